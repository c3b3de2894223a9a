let names: Intl.DisplayNames | undefined
/** Made when first asked for: what Intl needs takes megabytes, which a Berth that idles never uses. */
function nameOf(code: string): string | undefined {
  names ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return names.of(code)
}

/** The country at the end of a location, its code: `US` of `Texas, US` and of `Texas, United States`; else the whole location. */
export function countryOf(location: string): string {
  const last = location.slice(location.lastIndexOf(',') + 1).trim()
  if (isCountry(last)) return last
  return countries().get(last.toLowerCase()) ?? location.trim()
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
let known: Map<string, string> | undefined
/** The code of every country there is, by its English name in lower case. */
export function countries(): ReadonlyMap<string, string> {
  known ??= new Map(
    letters
      .flatMap(first => letters.map(second => first + second))
      // Former codes, such as UK, have the name of the one that is valid.
      .filter(code => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`)
      .flatMap(code => {
        const name = nameOf(code)
        return name === undefined ? [] : [[name.toLowerCase(), code]]
      }),
  )
  return known
}

/** Whether a region is a country's code, not the whole of a location that names none. */
export function isCountry(region: string): boolean {
  return /^[A-Z]{2}$/.test(region)
}

/** A country's English name, or what was given when it is not a country code. */
export function countryName(region: string): string {
  if (!isCountry(region)) return region
  const name = namesByCode.get(region) ?? nameOf(region) ?? region
  namesByCode.set(region, name)
  return name
}
/** Those that were asked for: the browser takes microseconds for each, and every row of a table asks. */
const namesByCode = new Map<string, string>()

/** A location as the table shows it: `Texas, US`, but `Sweden` for `Sweden, SE`. */
export function placeName(location: string): string {
  const country = countryOf(location)
  if (country === location.trim()) return countryName(country)
  const area = location.slice(0, Math.max(0, location.lastIndexOf(','))).trim()
  const name = countryName(country)
  return area === '' || area.toLowerCase() === name.toLowerCase() ? name : `${area}, ${country}`
}
