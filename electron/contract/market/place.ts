let names: Intl.DisplayNames | undefined
/** Creates Intl's names on first use: they take megabytes, which an idle Berth does not need. */
function nameOf(code: string): string | undefined {
  names ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return names.of(code)
}

/** A location's country code: `US` for `Texas, US` and `Texas, United States`; without one, the whole location. */
export function countryOf(location: string): string {
  const last = location.slice(location.lastIndexOf(',') + 1).trim()
  if (isCountry(last)) return last
  return countries().get(last.toLowerCase()) ?? location.trim()
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
let known: Map<string, string> | undefined
/** All country codes by English name in lower case. */
export function countries(): ReadonlyMap<string, string> {
  known ??= new Map(
    letters
      .flatMap(first => letters.map(second => first + second))
      // Old codes such as UK have the same name as the valid one.
      .filter(code => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`)
      .flatMap(code => {
        const name = nameOf(code)
        return name === undefined ? [] : [[name.toLowerCase(), code]]
      }),
  )
  return known
}

/** Whether a region is a country code, not a whole location. */
export function isCountry(region: string): boolean {
  return /^[A-Z]{2}$/.test(region)
}

/** A country's English name; a region that is no country code is returned unchanged. */
export function countryName(region: string): string {
  if (!isCountry(region)) return region
  const name = namesByCode.get(region) ?? nameOf(region) ?? region
  namesByCode.set(region, name)
  return name
}
/** A cache: each name takes the browser microseconds, and every row of a table needs one. */
const namesByCode = new Map<string, string>()

/** A location for the table: `Texas, US`, but `Sweden` for `Sweden, SE`. */
export function placeName(location: string): string {
  const country = countryOf(location)
  if (country === location.trim()) return countryName(country)
  const area = location.slice(0, Math.max(0, location.lastIndexOf(','))).trim()
  const name = countryName(country)
  return area === '' || area.toLowerCase() === name.toLowerCase() ? name : `${area}, ${country}`
}
