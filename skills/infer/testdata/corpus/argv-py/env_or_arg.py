"""Print the weather of a city. The key is in WEATHER_KEY."""
import os
import sys
import requests

key = os.environ["WEATHER_KEY"]
city = sys.argv[1]
units = sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] in ("metric", "imperial") else "metric"
r = requests.get("https://api.example.com/weather", params={"q": city, "appid": key, "units": units})
r.raise_for_status()
print(r.json()["main"]["temp"])
