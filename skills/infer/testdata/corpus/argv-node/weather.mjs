const city = process.argv[2] || 'Berlin';
const days = Number(process.argv[3] || 3);

const geo = await (await fetch(`https://geocoding-api.open-meteo.com/v1/search?name=${encodeURIComponent(city)}`)).json();
const { latitude, longitude } = geo.results[0];
const url = `https://api.open-meteo.com/v1/forecast?latitude=${latitude}&longitude=${longitude}&daily=temperature_2m_max&forecast_days=${days}`;
const forecast = await (await fetch(url)).json();
forecast.daily.time.forEach((day, i) => console.log(day, forecast.daily.temperature_2m_max[i]));
