import type { OfferView } from './offer.ts'
import { countryName, countryOf, placeName, regionsOf } from './place.ts'

/** The text in which free-text search finds an offer: number and name of GPUs, VRAM, place with its part of the world, CPU and ids. */
export function searchText(offer: OfferView): string {
  const { gpuName, gpuCount, gpuMemory, location, cpuName, id, machineId, hostId } = offer
  const parts = [
    `${gpuCount ?? 1} × ${gpuName ?? ''}`,
    // Also as one word: RTX4090.
    gpuName?.replaceAll(' ', ''),
    gpuMemory === undefined ? undefined : `${Math.round(gpuMemory / 1024)} GB`,
    location === undefined ? undefined : placeText(location),
    cpuName,
    id,
    machineId,
    hostId,
  ]
  return joined(parts.filter(part => part !== undefined).join(' '))
}

/** The names by which a place is found: as shown, its country, and the parts of the world around it. */
export function placeText(location: string): string {
  const country = countryOf(location)
  return `${location} ${placeName(location)} ${countryName(country)} ${regionsOf(country)}`
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
    .replace(/(\d) gb(?![a-z])/g, '$1gb')
}
