const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The country code at the end of a location such as `Texas, US`; the whole location when there is none. */
export function countryOf(location: string): string {
  const code = /(?:^|,)\s*([A-Z]{2})\s*$/.exec(location)?.[1]
  return code ?? location.trim()
}

/** Whether a region is a country's code, not the whole of a location that names none. */
export function isCountry(region: string): boolean {
  return /^[A-Z]{2}$/.test(region)
}

/** A country's English name, or what was given when it is not a country code. */
export function countryName(region: string): string {
  if (!isCountry(region)) return region
  return names.of(region) ?? region
}

/** A location as the table shows it: `Texas, US`, but `Sweden` for `Sweden, SE`. */
export function placeName(location: string): string {
  const country = countryOf(location)
  if (country === location.trim()) return countryName(country)
  const area = location.slice(0, location.lastIndexOf(',')).trim()
  const name = countryName(country)
  return area === '' || area.toLowerCase() === name.toLowerCase() ? name : `${area}, ${country}`
}
