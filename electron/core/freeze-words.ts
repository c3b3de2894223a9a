import type { Freeze } from '#platform/platform.ts'
import { dateAndTime, duration } from '../shared/format/time.ts'

/** What the user reads of a freeze. `keyless`: names of accounts whose key is not there any more. */
export function freezeWords(
  { at, seconds, restarted }: Freeze,
  keyless: readonly string[] = [],
): { title: string; body: string } {
  const lasted = duration(seconds)
  const since = `From ${dateAndTime(at / 1000 - seconds)} on, no limit and no run could act.`
  if (restarted && keyless.length > 0)
    return {
      title: `Berth restarted and needs ${keyless.length === 1 ? 'the key' : 'the keys'} again`,
      body:
        `It froze for ${lasted}. ${since} Nothing acts for ${keyless.join(' and ')} until you enter the API key: ` +
        `there is no keychain to keep it.`,
    }
  return {
    title: restarted ? `Berth froze for ${lasted} and restarted` : `Berth froze for ${lasted}`,
    body: `${since} They act again now.`,
  }
}
