import type { Files } from '../../ports/files.ts'

const name = 'browser-ports.json'
/** Ports remembered, the newest first: more than a browser keeps anything for. */
const most = 200

/** The ports that browser mode used, the last one first. What a browser kept for such an origin must never meet another page. */
export async function usedPorts(files: Files): Promise<readonly number[]> {
  const text = await files.read(name)
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(list) ? list.filter(port => Number.isInteger(port)) : []
  } catch {
    return []
  }
}

/** Remembers a port as the last one used. */
export async function rememberPort(files: Files, port: number): Promise<void> {
  const before = await usedPorts(files)
  const after = [port, ...before.filter(other => other !== port)].slice(0, most)
  await files.write(name, `${JSON.stringify(after)}\n`)
}
