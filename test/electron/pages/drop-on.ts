import type { CDPSession } from 'playwright-core'

/** Drops a file or a folder of this machine on a page, as a hand would. */
export async function dropOn(session: CDPSession, path: string, at: { x: number; y: number }): Promise<void> {
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
}
