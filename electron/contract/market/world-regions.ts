import { countryName } from './place.ts'

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
