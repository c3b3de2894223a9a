import type { ExtraFilters } from '#contract/market/offer.ts'
import { countries } from '#contract/market/place.ts'
import { searchWords } from '#contract/market/search-text.ts'

/** The meaning of a free text, in the service's terms. */
export interface TextMeaning {
  /** Number of GPUs, VRAM, country and machine, as conditions of the service. */
  conditions: ExtraFilters
  /** The other words: a GPU's name, a CPU, a place. */
  rest: string[]
}

/** Reads `8 × H100 80 GB Sweden` as eight GPUs of 80 GB in SE, and the rest `h100`. */
export function textMeaning(text: string): TextMeaning {
  const conditions: ExtraFilters = {}
  const all = searchWords(text)
  const country = countryWords().find(({ words }) => words.every(word => all.includes(word)))
  if (country) conditions['geolocation'] = { in: [country.code] }
  const rest = all.filter(word => {
    if (country?.words.includes(word)) return false
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

let known: { code: string; words: string[] }[] | undefined
/** All countries with the words of their names; longer names first, since one may be part of another. */
function countryWords() {
  known ??= [...countries()]
    .map(([name, code]) => ({ code, words: searchWords(name) }))
    .sort((a, b) => b.words.length - a.words.length)
  return known
}
