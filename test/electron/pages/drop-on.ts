import type { CDPSession } from 'playwright-core'

/** Drops a local file or folder on a page at a point. */
export async function dropOn(session: CDPSession, path: string, at: { x: number; y: number }): Promise<void> {
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
}
