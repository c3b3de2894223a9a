import { expect, test } from 'vitest'
import { BackupCodes } from '#simulator/world/two-factor/backup-codes.ts'

test('ten different codes of the form XXXX-XXXX-XXXX, which follow from the seed', () => {
  const codes = new BackupCodes(7).generate()
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^([A-Z2-9]{4}-){2}[A-Z2-9]{4}$/)
  expect(codes).toEqual(new BackupCodes(7).generate())
})

test('a code works once, whatever its case and spaces', () => {
  const codes = new BackupCodes(7)
  const [code = ''] = codes.generate()
  expect(codes.use(` ${code.toLowerCase()} `)).toBe(true)
  expect(codes.use(code)).toBe(false)
  expect(codes.remaining).toBe(9)
})

test('new codes void the old ones', () => {
  const codes = new BackupCodes(7)
  const old = codes.generate()
  expect(codes.generate()).not.toEqual(old)
  expect(old.some(code => codes.use(code))).toBe(false)
})
