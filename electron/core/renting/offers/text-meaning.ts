import type { ExtraFilters } from '../../../contract/market/offer.ts'
import { countryName } from '../../../contract/market/place.ts'
import { literal, searchWords } from '../../../contract/market/search-text.ts'

/** What a free text asks for, in what a service understands. */
export interface TextMeaning {
  /** Number of GPUs, VRAM, country and machine, as conditions of the service. */
  conditions: ExtraFilters
  /** The words that are none of these: a GPU's name, a CPU, a place. */
  rest: string[]
}

/** Reads `8 × H100 80 GB Sweden` as eight GPUs of 80 GB in SE, and the rest `h100`. */
export function textMeaning(text: string): TextMeaning {
  const conditions: ExtraFilters = {}
  const country = countries().find(({ words }) => words.test(text))
  if (country) conditions['geolocation'] = { in: [country.code] }
  const rest = searchWords(country ? text.replace(country.words, ' ') : text).filter(word => {
    const [, number, unit] = /^(\d{1,9})(×|gb)?$/.exec(word) ?? []
    const value = Number(number)
    if (unit === '×') conditions['num_gpus'] = { eq: value }
    else if (unit === 'gb') conditions['gpu_ram'] = { gte: (value - 0.5) * 1024, lt: (value + 0.5) * 1024 }
    // Shorter numbers are more likely part of a GPU's name, as in RTX 4090.
    else if (number !== undefined && number.length > 4) conditions['machine_id'] = { eq: value }
    else return true
    return false
  })
  return { conditions, rest }
}

interface Country {
  code: string
  name: string
  words: RegExp
}

let known: Country[] | undefined
/** Every country there is; the longer name first, where one is part of another. */
function countries(): Country[] {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))
  known ??= letters
    .flatMap(first => letters.map(second => first + second))
    .map(code => ({ code, name: countryName(code) }))
    .filter(({ code, name }) => name !== code)
    .map(each => ({
      ...each,
      words: new RegExp(`(?<![\\p{L}\\d])${literal(each.name)}(?![\\p{L}\\d])`, 'iu'),
    }))
    .sort((a, b) => b.name.length - a.name.length)
  return known
}
