import type { Templates } from '../../../service/templates.ts'

/** The length that is parsed of an `env`, in characters. */
const longestEnv = 65_536

/**
 * The TCP ports that a template's `env` publishes, by their number inside the instance (section 2.3): 8188 for `-p
 * 8188:8188 -e NAME="-p 1:1"`.
 */
export function publishedPorts(env: string): number[] {
  const words = env.slice(0, longestEnv).match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  const found: number[] = []
  for (let at = 0; at < words.length; at++) {
    const option = /^(-p|--publish|-e|--env)(?:=(.*))?$|^(-p)(\d.*)$/s.exec(words[at] ?? '')
    if (!option) continue
    const value = option[2] ?? option[4] ?? words[++at] ?? ''
    const publishes = option[3] !== undefined || option[1] === '-p' || option[1] === '--publish'
    const port = publishes ? /^["']?(?:[\d.]+:)*(\d{1,5})(?:\/tcp)?["']?$/.exec(value)?.[1] : undefined
    if (port !== undefined) found.push(Number(port))
  }
  return found
}

/** The ports of an instance's template; none where it cannot be loaded. */
export async function portsOfTemplate(
  templates: Pick<Templates, 'search'>,
  hash: string | undefined,
): Promise<number[]> {
  if (!hash) return []
  const found = await templates.search({ hash_id: { eq: hash } }).catch(() => [])
  return found.filter(({ hash_id }) => hash_id === hash).flatMap(({ env }) => publishedPorts(env ?? ''))
}
