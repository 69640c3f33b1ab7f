#!/usr/bin/env python3
"""Print a report of the system."""
import platform
import shutil

def main():
    print(platform.platform())
    total, used, free = shutil.disk_usage("/")
    print(f"disk: {used / total:.0%} used")

if __name__ == "__main__":
    main()
