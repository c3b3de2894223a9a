import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Ledger } from '#simulator/world/ledger.ts'

const HOUR = 3_600_000

test('charges are exact sums of rate and time, however time is divided', () => {
  const step = fc.record({
    milliseconds: fc.integer({ min: 0, max: 40 * HOUR }),
    gpu: fc.integer({ min: 0, max: 32_000_000 }),
    disk: fc.integer({ min: 0, max: 500_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), steps => {
      const ledger = new Ledger()
      let now = 0
      let gpu = 0n
      let disk = 0n
      for (const { milliseconds, ...rates } of steps) {
        ledger.setRates(1, now, rates)
        ledger.total(now + Math.floor(milliseconds / 2))
        now += milliseconds
        gpu += BigInt(rates.gpu) * BigInt(milliseconds)
        disk += BigInt(rates.disk) * BigInt(milliseconds)
      }
      const [total] = ledger.totals(now)
      expect(total?.gpu_micro_dollars).toBe(Number(gpu / BigInt(HOUR)))
      expect(total?.disk_micro_dollars).toBe(Number(disk / BigInt(HOUR)))
      const listed = ledger.charges(now).reduce((sum, charge) => sum + charge.micro_dollars, 0)
      expect(listed).toBe(total?.micro_dollars)
    }),
  )
})
