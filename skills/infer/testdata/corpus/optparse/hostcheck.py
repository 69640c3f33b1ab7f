import optparse
import subprocess

def main():
    p = optparse.OptionParser(description="Check hosts over SSH")
    p.add_option("-H", "--host", action="append", help="host to check (repeatable)")
    p.add_option("-u", "--user", default="root", help="user to log in")
    p.add_option("-l", "--level", type="choice", choices=["basic", "full"], default="basic", help="what to check")
    p.add_option("-v", action="count", dest="verbosity", default=0, help="more output")
    options, _ = p.parse_args()
    for host in options.host or []:
        cmd = ["ssh", "%s@%s" % (options.user, host), "uptime" if options.level == "basic" else "df -h"]
        print(subprocess.check_output(cmd).decode())

if __name__ == "__main__":
    main()
