// A typed fetch: what may be sent, and what comes back, are the types that
// openapi-typescript has made of the server's own document.
import type { components, paths } from "./api.ts";

export type Problem = components["schemas"]["Problem"];
type Method = "get" | "put" | "post" | "delete";
type Operation<P extends keyof paths, M extends Method> = Extract<paths[P][M], { responses: unknown }>;
type Methods<P extends keyof paths> = { [M in Method]: Operation<P, M> extends never ? never : M }[Method];
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : undefined;
type Result<O> = O extends { responses: { 200: { content: { "application/json": infer R } } } } ? R : undefined;
type Part<O, K extends string> = O extends { parameters: infer A } ? (K extends keyof A ? Exclude<A[K], undefined> : never) : never;

export interface Sent<O> {
  path?: Part<O, "path">;
  query?: Part<O, "query">;
  header?: Part<O, "header">;
  body?: Body<O>;
  accept?: string;
  signal?: AbortSignal;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  result: T;
  problem: Problem | undefined;
  text: string;
}

// used has the operations that were called.
export const used = new Set<string>();

// A Client calls one server as one principal.
export class Client {
  readonly base: string;
  readonly headers: Record<string, string>;

  constructor(base: string, headers: Record<string, string>) {
    this.base = base;
    this.headers = headers;
  }

  // open sends a request.
  open<P extends keyof paths, M extends Methods<P>>(method: M, path: P, sent: Sent<Operation<P, M>> = {}): Promise<Response> {
    used.add(`${method} ${path}`);
    let address: string = path;
    for (const [name, value] of Object.entries(sent.path ?? {})) {
      address = address.replace(`{${name}}`, encodeURIComponent(String(value)));
    }
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(sent.query ?? {})) query.set(name, String(value));
    const headers: Record<string, string> = { ...this.headers, Accept: sent.accept ?? "application/json, application/problem+json" };
    for (const [name, value] of Object.entries(sent.header ?? {})) headers[name] = String(value);
    if (sent.body !== undefined) headers["Content-Type"] = "application/json";
    return fetch(`${this.base}${address}${query.size ? `?${query}` : ""}`, {
      method: method.toUpperCase(),
      headers,
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      ...(sent.signal ? { signal: sent.signal } : {}),
    });
  }

  // call sends a request, and returns its answer.
  async call<P extends keyof paths, M extends Methods<P>>(method: M, path: P, sent: Sent<Operation<P, M>> = {}): Promise<Answer<Result<Operation<P, M>>>> {
    const response = await this.open(method, path, sent);
    const text = await response.text();
    const media = response.headers.get("Content-Type") ?? "";
    return {
      status: response.status,
      headers: response.headers,
      result: (media === "application/json" ? JSON.parse(text) : undefined) as Result<Operation<P, M>>,
      problem: media === "application/problem+json" ? (JSON.parse(text) as Problem) : undefined,
      text,
    };
  }
}

export interface Event {
  id: string;
  event: string;
  data: any;
}

// events reads server-sent events.
export async function* events(response: Response): AsyncGenerator<Event> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(part, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      if (fields.has("event")) {
        yield { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(fields.get("data") ?? "null") };
      }
    }
  }
}
