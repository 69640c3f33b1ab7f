// The script of the page. Every screen works without it. It does six things:
//
// Live: it polls for changes of the topics in body[data-topics], gets the screen again, and brings
// the elements with [data-live] and an id up to date. Focus, scroll, typed text and open
// details stay.
//
// Search: form[data-search] is sent as one types, and #results replaced.
//
// Notices: the title counts the questions that wait. One tab of the browser also listens
// while it is hidden, and shows a notification of a new question if the person allows it.
//
// Paths: input[list=paths] gets suggestions as one types.
//
// Elapsed: [data-since=TIME] shows the time since then.
//
// Copy: button[data-copy=ID] copies the text of the element #ID.
(() => {
  "use strict";
  const status = document.getElementById("status");
  const say = (text) => { if (status) status.textContent = text; };
  document.documentElement.classList.add("script");

  // update makes one element like another, and keeps each node that it can.
  function update(from, to) {
    if (from.isEqualNode(to)) return;
    if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.id !== to.id) {
      from.replaceWith(to);
      return;
    }
    if (from.nodeType !== Node.ELEMENT_NODE) {
      from.nodeValue = to.nodeValue;
      return;
    }
    for (const { name } of [...from.attributes]) {
      if (!to.hasAttribute(name) && !(name === "open" && from.nodeName === "DETAILS")) from.removeAttribute(name);
    }
    for (const { name, value } of to.attributes) {
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    let at = from.firstChild;
    for (const next of [...to.childNodes]) {
      const same = next.id && [...from.children].find((child) => child.id === next.id);
      if (same) {
        if (same === at) at = at.nextSibling;
        else from.insertBefore(same, at);
        update(same, next);
      } else if (at && !at.id && !next.id) {
        const old = at;
        at = at.nextSibling;
        update(old, next);
      } else {
        from.insertBefore(next, at);
      }
    }
    while (at) {
      const old = at;
      at = at.nextSibling;
      old.remove();
    }
  }

  async function get(url, signal) {
    const answer = await fetch(url, { signal, headers: { Accept: "text/html" } });
    if (answer.status === 401) throw new Error("signed out");
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  // What a click decides may have moved under the pointer: when the forms have changed, no
  // button of one counts for half a second.
  let moved = -Infinity;
  const decisions = (element) => [...element.querySelectorAll('form[method="post"]')].map((form) => form.getAttribute("action") + [...form.querySelectorAll("input[type=hidden]")].map((input) => input.value)).join();
  document.addEventListener("click", (event) => {
    if (performance.now() - moved < 500 && event.target.closest('form[method="post"] button')) {
      event.preventDefault();
      say("This has just changed. Look again, and press once more.");
    }
  }, true);

  // Notices.
  const waiting = (page) => (page.getElementById("nav-approvals")?.dataset.waiting ?? "").split(" ").filter(Boolean);
  const seen = new Set(waiting(document));
  let keeper = false; // it listens while it is hidden
  function notice(fresh) {
    document.title = fresh.title;
    const added = waiting(fresh).filter((id) => !seen.has(id));
    added.forEach((id) => seen.add(id));
    if (!added.length || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    const name = fresh.getElementById("nav-approvals").dataset.newest;
    const shown = new Notification("skills-mcp", { tag: added[0], body: added.length > 1 ? `${added.length} calls wait for your yes` : `${name} waits for your yes` });
    shown.onclick = () => {
      window.focus();
      location.assign("/ui/approvals" + (added.length > 1 ? "" : "/" + added[0]));
    };
  }
  navigator.locks?.request("notices", () => new Promise(() => { // held until the tab is closed
    keeper = true;
    listen();
  }));
  const offer = document.getElementById("notices");
  if (offer && "Notification" in window && Notification.permission === "default") {
    offer.hidden = false;
    offer.querySelector("button").addEventListener("click", async () => {
      const answer = await Notification.requestPermission();
      offer.hidden = answer !== "default";
      say(answer === "granted" ? "New questions are notified while a tab of this page is open." : "The browser allows no notifications of this page.");
    });
  }

  // Live. Visible pages and the keeper poll: a browser has few connections for each server.
  let poll, busy = false, again = false;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const url = location.href;
      const fresh = await get(url);
      const stale = url !== location.href; // by a search, whose results are newer
      if (stale) again = true; else notice(fresh);
      for (const old of stale ? [] : document.querySelectorAll("[data-live][id]")) {
        const now = fresh.getElementById(old.id);
        if (!now || !document.contains(old)) continue;
        if (decisions(old) !== decisions(now)) moved = performance.now();
        update(old, now);
      }
      const topics = fresh.body.dataset.topics;
      document.body.dataset.stamp = fresh.body.dataset.stamp ?? "";
      if (topics !== document.body.dataset.topics) {
        if (topics) document.body.dataset.topics = topics; else delete document.body.dataset.topics;
        listen();
      }
    } catch (error) {
      if (error.message === "signed out") stop("You are signed out: load the page again.");
    }
    await new Promise((done) => setTimeout(done, 200)); // many changes are one refresh
    busy = false;
    if (again) { again = false; refresh(); }
  }
  function stop(text) {
    poll?.abort();
    poll = undefined;
    if (text) say(text);
  }
  async function listen() {
    stop();
    const topics = document.body.dataset.topics;
    if (!topics || (document.hidden && !keeper)) return;
    const own = poll = new AbortController();
    let stamp = document.body.dataset.stamp;
    while (poll === own) {
      const answer = await fetch("/ui/events?topics=" + encodeURIComponent(topics) + "&stamp=" + stamp, { signal: own.signal }).catch(() => undefined);
      if (poll !== own) return;
      if (answer?.status === 200) {
        stamp = await answer.text().catch(() => stamp);
        refresh();
      } else if (answer?.status === 401) {
        stop("You are signed out: load the page again.");
      } else if (answer?.status !== 204) { // the server is away, or too many screens are open
        await new Promise((done) => setTimeout(done, 2000));
      }
    }
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.body.dataset.topics) return;
    if (!document.hidden) refresh();
    listen();
  });
  addEventListener("pagehide", () => stop());
  addEventListener("pageshow", listen);

  // Search.
  for (const form of document.querySelectorAll("form[data-search]")) {
    let timer, running;
    const search = async () => {
      const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
      const url = form.action.split("?")[0] + (query.size ? "?" + query : "");
      running?.abort();
      running = new AbortController();
      try {
        const fresh = (await get(url, running.signal)).getElementById("results");
        if (fresh) update(document.getElementById("results"), fresh);
        history.replaceState(null, "", url);
      } catch (error) {
        if (error.name !== "AbortError") form.submit();
      }
    };
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(search, 80);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(timer);
      search();
    });
  }

  // Paths: those that begin with what is typed are suggested.
  const paths = document.getElementById("paths"), form = paths?.closest("form");
  let asked;
  form?.addEventListener("input", async ({ target }) => {
    if (target.getAttribute("list") !== "paths") return;
    asked?.abort();
    asked = new AbortController();
    const query = new URLSearchParams({ text: target.value, workspace: form.elements.workspace?.value ?? "" });
    const answer = await fetch(form.dataset.paths + "?" + query, { signal: asked.signal }).then((a) => a.ok ? a.json() : null, () => null);
    if (answer) paths.replaceChildren(...answer.map((path) => new Option("", path)));
  });

  // Elapsed.
  setInterval(() => {
    for (const element of document.querySelectorAll("[data-since]")) {
      const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(element.dataset.since)) / 1000));
      element.textContent = (seconds < 60 ? "" : Math.floor(seconds / 60) + "m") + seconds % 60 + "s";
    }
  }, 1000);

  // Copy.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    const source = button && document.getElementById(button.dataset.copy);
    if (!source) return;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      say("Copied.");
      const label = button.textContent;
      if (label !== "Copied") {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = label; }, 1500);
      }
    } catch {
      getSelection().selectAllChildren(source);
      say("Selected: press Ctrl-C or Command-C to copy.");
    }
  });
})();
