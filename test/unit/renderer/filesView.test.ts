import { expect, test } from 'vitest'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { progressWords } from '#renderer/features/files/transferWords.ts'
import { FilesView } from '#renderer/screens/instances/files/filesView.svelte.ts'
import type { RemoteFolder } from '#shared/instance/files.ts'
import { fileTransferView } from '#test/unit/views.ts'

test('waiting for a folder’s list ends even if another list overtakes it', async () => {
  const answers: ((folder: RemoteFolder) => void)[] = []
  const berth = { listFiles: () => new Promise<RemoteFolder>(resolve => answers.push(resolve)) }
  const view = new FilesView({ berth } as unknown as Page, 'a', 1)
  // A drop on the row lists the folder, and so does the tab that it shows.
  const dropped = view.open().then(() => view.folder?.path)
  void view.open()
  const [first, second] = answers
  const home = { path: '/root', entries: [], more: false, unnamed: 0 } satisfies RemoteFolder
  first?.(home)
  setImmediate(() => second?.(home))
  expect(await dropped).toBe('/root')
})

const transfer = fileTransferView({ step: 'failed' })

test('shows known sizes', () => {
  expect(progressWords(transfer)).toBe('')
  expect(progressWords({ ...transfer, step: 'done' })).toBe('0 B')
  expect(progressWords({ ...transfer, total: 64_000_000, done: 12_000_000 })).toBe('12 MB of 64 MB')
})
