from optparse import OptionParser
import feedparser

def parse_options():
    parser = OptionParser()
    parser.add_option("-u", "--url", help="address of the feed")
    parser.add_option("-n", "--number", type=int, default=5, help="number of entries")
    parser.add_option("--full", action="store_true", help="with the text")
    return parser.parse_args()[0]

options = parse_options()
feed = feedparser.parse(options.url)
for entry in feed.entries[: options.number]:
    print("-", entry.title)
    if options.full:
        print("  ", entry.summary)
