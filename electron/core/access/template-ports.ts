import { readOptions } from '#contract/market/docker-options.ts'
import { firstWords } from '#contract/market/shell-words.ts'
import type { Templates } from '#service/templates.ts'

/** The length that is parsed of an `env`, in characters. */
const longestEnv = 65_536

/**
 * The TCP ports that a template's `env` publishes, by their number inside the instance (section 2.3): 8188 for `-p
 * 8188:8188 -e NAME="-p 1:1"`.
 */
export function publishedPorts(env: string): number[] {
  const { words } = firstWords(env.slice(0, longestEnv))
  const { ports } = readOptions(words, 'goes on')
  return ports.filter(({ protocol }) => protocol === 'tcp').map(({ container }) => Number(container))
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
