#!/usr/bin/env python3
import getopt, ipaddress, sys

try:
    opts, args = getopt.getopt(sys.argv[1:], "", ["network=", "prefix=", "json"])
except getopt.error as msg:
    print(msg, file=sys.stderr)
    sys.exit(2)

opts = dict(opts)
network = ipaddress.ip_network(opts["--network"])
prefix = int(opts.get("--prefix", "24"))
subnets = [str(s) for s in network.subnets(new_prefix=prefix)]
if "--json" in opts:
    import json
    print(json.dumps(subnets))
else:
    print("\n".join(subnets))
