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
let knownPlaces: Map<string, string> | undefined
/** All country codes by English name in lower case. */
export function countries(): ReadonlyMap<string, string> {
  knownPlaces ??= new Map(
    letters
      .flatMap(first => letters.map(second => first + second))
      // Old codes such as UK have the same name as the valid one.
      .filter(code => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`)
      .flatMap(code => {
        const name = nameOf(code)
        return name === undefined ? [] : [[name.toLowerCase(), code]]
      }),
  )
  return knownPlaces
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

const eu = 'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'
const europe = `${eu} AL AD BA BY CH FO GB GG GI IM IS JE LI MC MD ME MK NO RS RU SM UA VA XK`
const northAmerica = 'US CA MX'
const southAmerica = 'AR BO BR CL CO EC GY PE PY SR UY VE'
const asia =
  'AE AM AZ BD BH BN CN GE HK ID IL IN IQ JO JP KG KH KR KW KZ LA LB LK MM MN MO MY NP OM PH PK PS QA SA SG TH TJ TM TR TW UZ VN'
const oceania = 'AU NZ FJ PG'
const africa = 'DZ EG ET GH KE MA MU NG RW SN TN TZ UG ZA'

/** Parts of the world by name, as country codes; the European Union is a part of Europe. */
export const worldRegions: readonly { name: string; countries: readonly string[] }[] = [
  { name: 'Europe', countries: europe.split(' ') },
  { name: 'European Union', countries: eu.split(' ') },
  { name: 'North America', countries: northAmerica.split(' ') },
  { name: 'South America', countries: southAmerica.split(' ') },
  { name: 'Asia', countries: asia.split(' ') },
  { name: 'Oceania', countries: oceania.split(' ') },
  { name: 'Africa', countries: africa.split(' ') },
]

const regionsByCountry = new Map<string, string>()
/** The parts of the world that a country is in, as one text to search, with the short name of the European Union. */
export function regionsOf(country: string): string {
  let names = regionsByCountry.get(country)
  if (names === undefined) {
    const around = worldRegions.filter(({ countries }) => countries.includes(country))
    names = around.map(({ name }) => (name === 'European Union' ? `${name} EU` : name)).join(' ')
    regionsByCountry.set(country, names)
  }
  return names
}

/** The chosen countries by name, with one name for all of a part of the world. */
export function placeWords(codes: readonly string[]): string[] {
  const left = new Set(codes)
  const names: string[] = []
  for (const { name, countries } of worldRegions) {
    if (!countries.every(code => left.has(code))) continue
    names.push(name)
    for (const code of countries) left.delete(code)
  }
  return [...names, ...[...left].map(countryName)]
}

/** The names by which a place is found: as shown, its country, and the parts of the world around it. */
export function placeText(location: string): string {
  const country = countryOf(location)
  return `${location} ${placeName(location)} ${countryName(country)} ${regionsOf(country)}`
}
