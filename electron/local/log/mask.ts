/** What stands in a secret's place. */
export const cover = '••••••'

/** The one function that all that is logged or copied passes through. */
export interface Mask {
  /** Covers what is known to be a secret, and what looks like one. */
  (text: string): string
  /** From here on this is a secret, and so is each text in it when it is JSON. Below 6 characters nothing is: it would cover words. */
  learn(secret: string): void
}

/** As many are remembered; the first ones go. */
const remembered = 500
const shortest = 6

export function createMask(): Mask {
  const known = new Set<string>()
  function learn(secret: string): void {
    for (const text of [secret, ...textsIn(secret)]) {
      if (text.length < shortest) continue
      known.delete(text)
      known.add(text)
      // In an address or in JSON it looks different.
      for (const form of [encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]) known.add(form)
    }
    for (const oldest of known) {
      if (known.size <= 3 * remembered) break
      known.delete(oldest)
    }
  }
  function mask(text: string): string {
    // The longest first: one may be the beginning of another.
    const secrets = [...known].toSorted((a, b) => b.length - a.length)
    return coverLookalikes(secrets.reduce((rest, secret) => rest.replaceAll(secret, cover), text))
  }
  return Object.assign(mask, { learn })
}

/** The texts in a keychain entry that holds several. */
function textsIn(secret: string): string[] {
  if (!/^[[{]/.test(secret)) return []
  try {
    const texts: string[] = []
    JSON.parse(secret, (_name, value) => {
      if (typeof value === 'string') texts.push(value)
      return value
    })
    return texts
  } catch {
    return []
  }
}

const names =
  'token|secret|pass(?:word|phrase|wd)?|api[_-]?key|private[_-]?key|credentials?|authorization|cookie|session[_-]?key|otp|backup[_-]?codes?'
/** A text in JSON, or in JSON within JSON, up to its end or to where it was cut. */
const quoted = String.raw`"(?:\\[\s\S]?|[^"\\])*"?|\\"(?:\\\\\\"|(?!\\")[\s\S])*(?:\\")?|\\[^"]?`
/** A list of JSON and an object, whatever their texts hold: lists in a list, too. */
const list = String.raw`\[(?:${quoted}|[^"\\[\]]|\[(?:${quoted}|[^"\\[\]])*\]?)*\]?`
const object = String.raw`\{(?:${quoted}|[^"\\{}])*\}?`
/** What comes after a name, with its quotes: to the end of the list, of the quoted text, or of the word. */
const value = String.raw`${list}|\\"(?:\\[^"]|[^"\\])*(?:\\")?|"(?:\\[\s\S]?|[^"\\])*"?|'[^']*'?|(?:(?:bearer|basic|token)\s+)?[^\s"'&,;}\])]+`

/** What a secret looks like, and what is left of it. In this order. */
const lookalikes: readonly [RegExp, string][] = [
  // Private keys, also those cut off.
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g, cover],
  // A user in an address.
  [/:\/\/[^\s/@"']+@/g, `://${cover}@`],
  // Berth's own page address, and whatever else is long after a #.
  [/#[A-Za-z0-9_-]{24,}/g, `#${cover}`],
  // An environment, as the service has it and as Docker has it.
  [new RegExp(String.raw`("(?:extra_)?env\\?"\s*:\s*)(?:${object}|${list})`, 'g'), `$1${cover}`],
  [
    /((?:^|[\s"'])(?:-e|--env)[\s=]+["']?[A-Za-z_][A-Za-z0-9_]*)=(?:"[^"]*"|'[^']*'|[^\s"']+)/gm,
    `$1=${cover}`,
  ],
  // A name that says so, with what comes after it.
  [new RegExp(String.raw`((?:${names})[\w-]{0,64}\\?["']?)(\s*[:=]\s*)(?:${value})`, 'gi'), `$1$2${cover}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${cover}`],
  // What services give out under a sign of their own.
  [/\b(?:gh[oprsu]|github_pat|hf|sk|rk|pk|glpat|xox[abeprs]|npm|pypi)[-_][A-Za-z0-9_-]{10,}/g, cover],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, cover],
  [/\beyJ[A-Za-z0-9_-]{8,512}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, cover],
  // Backup codes.
  [/(?<![A-Za-z0-9-])[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2}(?![A-Za-z0-9-])/g, cover],
  // Long, with letters and digits: no word, no number, no path.
  [/(?<![A-Za-z0-9_+-])(?=[A-Za-z_+-]*\d)(?=[\d_+-]*[A-Za-z])[A-Za-z0-9_+-]{32,}={0,2}/g, cover],
]

function coverLookalikes(text: string): string {
  return lookalikes.reduce((rest, [pattern, left]) => rest.replaceAll(pattern, left), text)
}
