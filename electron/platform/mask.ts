import { cover } from '#shared/text.ts'

/** Masks secrets. All texts that are logged or copied pass through it. */
export interface Mask {
  /** Covers known secrets, and texts that look like secrets. */
  (text: string): string
  /** Covers this secret from now on, and in JSON each text of it. Texts below 6 characters are ignored. */
  learn(secret: string): void
}

/** Secrets to remember; the oldest are dropped first. */
const remembered = 500
const shortest = 6

export function createMask(): Mask {
  const known = new Set<string>()
  function learn(secret: string): void {
    for (const text of [secret, ...textsIn(secret)]) {
      if (text.length < shortest) continue
      known.delete(text)
      known.add(text)
      // Its forms in an address and in JSON, where these differ.
      for (const form of [encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]) known.add(form)
    }
    for (const oldest of known) {
      if (known.size <= 3 * remembered) break
      known.delete(oldest)
    }
  }
  function mask(text: string): string {
    // The longest first: a secret may be the beginning of another.
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
/** A string in JSON, or in JSON within JSON, up to its end or to where it was cut. */
const quoted = String.raw`"(?:\\[\s\S]?|[^"\\])*"?|\\"(?:\\\\\\"|(?!\\")[\s\S])*(?:\\")?|\\[^"]?`
/** An array and an object in JSON, with any strings in them. Arrays may hold arrays. */
const list = String.raw`\[(?:${quoted}|[^"\\[\]]|\[(?:${quoted}|[^"\\[\]])*\]?)*\]?`
const object = String.raw`\{(?:${quoted}|[^"\\{}])*\}?`
/** A value after a name, with its quotes: up to the end of the array, of the quoted text, or of the word. */
const value = String.raw`${list}|\\"(?:\\[^"]|[^"\\])*(?:\\")?|"(?:\\[\s\S]?|[^"\\])*"?|'[^']*'?|(?:(?:bearer|basic|token)\s+)?[^\s"'&,;}\])]+`

/** Patterns of secrets and their replacements, applied in this order. */
const lookalikes: readonly [RegExp, string][] = [
  // Private keys, also cut off.
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g, cover],
  // User and password in an address.
  [/:\/\/[^\s/@"']+@/g, `://${cover}@`],
  // The token in Berth's own page address, and other long fragments.
  [/#[A-Za-z0-9_-]{24,}/g, `#${cover}`],
  // Environment variables, in the service's form and in Docker's.
  [new RegExp(String.raw`("(?:extra_)?env\\?"\s*:\s*)(?:${object}|${list})`, 'g'), `$1${cover}`],
  [
    /((?:^|[\s"'])(?:-e|--env)[\s=]+["']?[A-Za-z_][A-Za-z0-9_]*)=(?:"[^"]*"|'[^']*'|[^\s"']+)/gm,
    `$1=${cover}`,
  ],
  // Values after a telling name.
  [new RegExp(String.raw`((?:${names})[\w-]{0,64}\\?["']?)(\s*[:=]\s*)(?:${value})`, 'gi'), `$1$2${cover}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${cover}`],
  // Tokens with a service's prefix, access keys of AWS, and JSON Web Tokens.
  [/\b(?:gh[oprsu]|github_pat|hf|sk|rk|pk|glpat|xox[abeprs]|npm|pypi)[-_][A-Za-z0-9_-]{10,}/g, cover],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, cover],
  [/\beyJ[A-Za-z0-9_-]{8,512}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, cover],
  // Backup codes.
  [/(?<![A-Za-z0-9-])[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2}(?![A-Za-z0-9-])/g, cover],
  // Long words of letters and digits.
  [/(?<![A-Za-z0-9_+-])(?=[A-Za-z_+-]*\d)(?=[\d_+-]*[A-Za-z])[A-Za-z0-9_+-]{32,}={0,2}/g, cover],
]

function coverLookalikes(text: string): string {
  return lookalikes.reduce((rest, [pattern, left]) => rest.replaceAll(pattern, left), text)
}
