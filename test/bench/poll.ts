import type { MainMessage } from '#contract/messages.ts'
import { alertsAfterPoll } from '#core/alerts/poll-alerts.ts'
import { createPageLink } from '#core/bridge/dispatcher.ts'
import { applyChanges, compareInstances, type KnownRecords } from '#core/instances/reconcile.ts'
import { createStore, isDeepEqual, type Store } from '#core/storage/store.ts'
import type { Instance } from '#service/instances.ts'
import { defaultSettings } from '#shared/settings.ts'
import { accountView, stateWith } from '../unit/views.ts'
import { inTurn, type Row, ratioRow, type Size } from './row.ts'
import { startThousand } from './thousand.ts'

/** The time of a poll after its answer is parsed, and the bytes it sends to the page. */
export async function pollRows({ smoke }: Size): Promise<Row[]> {
  const thousand = await startThousand()
  try {
    const parse = () => (JSON.parse(thousand.body()) as { instances: Instance[] }).instances
    const store = createStore(stateWith(accountView({ id: 'demo', credit: 5_000_000_000 })))
    const known: KnownRecords = new Map()
    let bytes = 0
    const link = createPageLink(
      store,
      async () => undefined,
      (message: MainMessage) => {
        if (message.kind === 'patch') bytes += JSON.stringify(message).length
        return true
      },
    )
    link.receive({ kind: 'sync' })

    poll(store, known, parse())
    bytes = 0
    const before = parse()
    const after = parse()
    const { first, second } = await inTurn(
      smoke ? 1 : 200,
      () => poll(store, known, after),
      () => before.every((record, index) => isDeepEqual(record, after[index])),
    )
    const unchangedBytes = bytes

    bytes = 0
    thousand.change(10)
    poll(store, known, parse())
    const tenBytes = bytes
    bytes = 0
    thousand.change(1000)
    poll(store, known, parse())
    const allBytes = bytes

    return [
      ratioRow('a poll of 1,000 unchanged instances', 'one comparison of their fields', first / second, 3),
      {
        what: 'the same poll, to the page',
        compared: 'bytes of patches',
        measured: `${unchangedBytes} bytes`,
        budget: '0 bytes',
        kept: unchangedBytes === 0,
      },
      {
        what: 'a poll where 10 of 1,000 changed, to the page',
        compared: `bytes per changed instance, over those of a poll where all changed (${allBytes} bytes)`,
        measured: `${tenBytes} bytes, ${(tenBytes / 10 / (allBytes / 1000)).toFixed(2)} ×`,
        budget: 'in proportion: at most 1.5 ×',
        kept: tenBytes / 10 <= (allBytes / 1000) * 1.5,
      },
    ]
  } finally {
    await thousand.close()
  }
}

/** Handles the answer to a poll as Berth does. */
function poll(store: Store, known: KnownRecords, records: readonly Instance[]): void {
  const account = store.get().accounts['demo']
  if (!account) throw new Error('no account')
  const changes = compareInstances(
    known,
    account.instances,
    { instances: records, unconfirmed: [] },
    1_790_000_100,
  )
  if (changes.changed.size > 0 || changes.gone.length > 0)
    store.change(draft => {
      const target = draft.accounts['demo']
      if (target) applyChanges(target.instances, account.instances, changes)
    })
  const seen = store.get().accounts['demo']
  if (seen) alertsAfterPoll({ lowCredit: false, instances: {} }, seen, defaultSettings, 1_790_000_100)
}
