import type { CreditSample } from '../../contract/credit.ts'
import type { Micros } from '../../contract/money.ts'
import { type DocumentOptions, openDocument } from '../remember/document.ts'
import { KeptSamples, withSample } from './samples.ts'

/** How an account's credit went: one sample every five minutes of its time, bounded, in its folder. */
export interface CreditHistory {
  add(at: number, credit: Micros): void
  /** Oldest first. */
  samples(): readonly CreditSample[]
  flush(): Promise<void>
}

export async function openCreditHistory(
  around: Pick<DocumentOptions<typeof KeptSamples>, 'files' | 'clock' | 'name' | 'onBroken'>,
): Promise<CreditHistory> {
  const document = await openDocument({ ...around, schema: KeptSamples, empty: [] })
  return {
    add(at, credit) {
      const before = document.get()
      const after = withSample(before, at, credit)
      if (after !== before) document.writeSoon(() => [...after])
    },
    samples: () => document.get().map(([at, credit]) => ({ at, credit })),
    flush: document.flush,
  }
}
