import { expect, test } from 'vitest'
import type { FileTransferView } from '#contract/instance/files.ts'
import { progressWords } from '#renderer/features/files/transferWords.ts'

const transfer: FileTransferView = {
  id: 'f0123456789abcdef',
  instance: 4711,
  direction: 'up',
  name: 'data',
  folder: '/workspace',
  step: 'failed',
  total: 0,
  done: 0,
  files: 0,
  filesDone: 0,
  resumable: false,
  leftOut: 0,
  startedAt: 0,
}

test('shows known sizes', () => {
  expect(progressWords(transfer)).toBe('')
  expect(progressWords({ ...transfer, step: 'done' })).toBe('0 B')
  expect(progressWords({ ...transfer, total: 64_000_000, done: 12_000_000 })).toBe('12 MB of 64 MB')
})
