import { fieldsWith, type OfferView } from './offer.ts'
import type { OfferFilter } from './offer-query.ts'

const searched = fieldsWith('search').map(([, { search }]) => search)

/** The text in which free-text search finds an offer. */
export function searchText(offer: OfferView): string {
  const words = searched.map(search => search(offer)).filter(found => found !== undefined)
  return joined(words.join(' '))
}

/** A figure with a sign or a unit that no offer shows, as it may be typed, and the bound that it means. */
const bounds: readonly [RegExp, (figure: number) => OfferFilter][] = [
  // $0.40, <$0.40, <0.40, 0.40$, 0.40/h, also with /h.
  [/^(?:[<≤]=?\$?|\$)([\d.]*)(?:\/h?)?$/, priceTo => ({ priceTo })],
  [/^([\d.]+)(?:\$\/?|\/)h?$/, priceTo => ({ priceTo })],
  [/^(?:[>≥]=?)?([\d.]+)gb(?:\/s?|ps)$/, gigabits => ({ downFrom: gigabits * 1000 })],
  [/^(?:[>≥]=?)?([\d.]+)mb(?:\/s?|ps)$/, downFrom => ({ downFrom })],
  [/^[>≥]=?([\d.]*)(?:gb)?$/, memoryFrom => ({ memoryFrom })],
  [/^([\d.]+)gb\+$/, memoryFrom => ({ memoryFrom })],
  [/^(?:[>≥]=?)?([\d.]+)%\+?$/, percent => (percent <= 100 ? { reliabilityFrom: percent / 100 } : {})],
]

/**
 * Reads a text as bounds, such as at most $0.40/h in `4090 $0.40`, and the words that an offer must show. Of two
 * bounds of a kind the later one holds; one without a figure yet (`$`, `<0.`) is none.
 */
export function readSearch(text: string): { filter: OfferFilter; words: string[] } {
  const filter: OfferFilter = {}
  const words = searchWords(text).filter(word => {
    for (const [pattern, meaning] of bounds) {
      const [whole, figure = ''] = pattern.exec(word) ?? []
      if (whole === undefined) continue
      if (Number(figure) > 0) Object.assign(filter, meaning(Number(figure)))
      return false
    }
    return true
  })
  return { filter, words }
}

/** The words of a query, all of which must be found: `8 × H100, 80 GB` gives `8×`, `h100` and `80gb`. */
export function searchWords(text: string): string[] {
  return joined(text)
    .split(/[\s,]+/)
    .map(word => word.replace(/^#(?=\d)/, ''))
    .filter(word => word !== '')
}

/** Tests whether a text contains a word. Numbers are not found within longer ones: `80gb` is not in `180gb`. */
export function hasWord(word: string): (text: string) => boolean {
  const number = isDigit(word[0])
  return text => {
    let at = text.indexOf(word)
    while (number && at > 0 && isDigit(text[at - 1])) at = text.indexOf(word, at + 1)
    return at >= 0
  }
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

/** Lower case, with a number and its unit joined into one word, in any notation. */
function joined(text: string): string {
  return text
    .toLowerCase()
    .replace(/(\d)(?: ?×|x(?=[a-z])| ?[x*](?![^ ])) ?/g, '$1× ')
    .replace(/(\d) ([gm]b)(?=\W|ps|$)/g, '$1$2')
    .replace(/(?<=^|\s)([<>≤≥$]=?) (?=[\d$.])/g, '$1')
}
