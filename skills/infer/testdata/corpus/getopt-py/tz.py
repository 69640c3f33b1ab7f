import getopt, sys
from datetime import datetime
from zoneinfo import ZoneInfo

zones = []
fmt = "%H:%M"
opts, args = getopt.getopt(sys.argv[1:], "z:f:", ["zone=", "format="])
for name, value in opts:
    if name in {"-z", "--zone"}:
        zones.append(value)
    elif name in {"-f", "--format"}:
        fmt = value
for zone in zones or ["UTC"]:
    print(zone, datetime.now(ZoneInfo(zone)).strftime(fmt))
