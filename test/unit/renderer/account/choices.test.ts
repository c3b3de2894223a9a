import { expect, test } from 'vitest'
import { mayNeedLogin } from '#renderer/components/answers/submission.svelte.ts'
import { choices } from '#renderer/screens/account/two-factor/words.ts'
import type { TwoFactorStatus } from '#shared/account/two-factor.ts'

const status: TwoFactorStatus = {
  enabled: true,
  methods: [
    { id: 4, kind: 'totp', label: 'app', primary: false, failCount: 0, lockedUntil: 99 },
    { id: 5, kind: 'sms', phone: '***4567', primary: true, failCount: 0 },
    { id: 6, kind: 'passkey', primary: false, failCount: 0 },
  ],
  backupCodesRemaining: 3,
  mayAdd: false,
}
const labels = (told: TwoFactorStatus | undefined) => choices(told).map(({ label }) => label)

test('the primary method comes first, then the others, email and backup codes', () => {
  expect(labels(status)).toEqual([
    'Text message to ***4567',
    'app (authenticator app)',
    'Code by email',
    'Backup code',
  ])
  expect(choices(status)[1]).toMatchObject({ method: 4, lockedUntil: 99 })
})

test('a status without backup codes offers none', () => {
  expect(labels({ ...status, backupCodesRemaining: 0 })).not.toContain('Backup code')
})

test('an account without methods has the number on file', () => {
  expect(labels({ ...status, methods: [], backupCodesRemaining: 0 })).toEqual([
    'Text message to the number on file',
    'Code by email',
  ])
})

test('an unknown status offers every method', () => {
  expect(choices(undefined).map(({ way }) => way)).toEqual(['totp', 'sms', 'email', 'backup'])
})

test('a login is offered only after a refusal that it may solve', () => {
  const solved = ['tfa_needed', 'auth_error', 'unauthorized', 'forbidden']
  const codes = [...solved, 'tfa_locked', 'offline', 'not_supported']
  expect(codes.filter(code => mayNeedLogin({ code, message: '' }))).toEqual(solved)
})
