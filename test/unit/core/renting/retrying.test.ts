import { expect, test } from 'vitest'
import { requestSecrets } from '#core/market/request-secrets.ts'
import { openStoredRentals, type Rental } from '#core/renting/rental.ts'
import { endRetries } from '#core/renting/retrying.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { retrying, someTry } from './some-rental.ts'

test('a rental ends with its last try, so that a kill in between tries no other machine', async () => {
  const files = new MemoryFiles()
  const context = accountContext({ files, now: () => 1000 })
  const rentals = await openStoredRentals(context)
  const rental = retrying(someTry({ instance: undefined }))
  await rentals.add(rental)
  await endRetries({ context, rentals, secrets: requestSecrets(context.keychain) }, rental, {
    step: 'failed',
  })
  const written = files.writes.map(({ text }) => JSON.parse(text)[0] as Rental)
  expect(written.map(({ step, tries: [first] }) => [step, first?.endedAt])).toEqual([
    ['trying', undefined],
    ['failed', 1000],
  ])
})
