import * as v from 'valibot'
import type { AccountContext, Automation, FreshLook } from '../../account-context.ts'
import { heldBack, stoppedBy, stopperOf } from '../../guards/guard-veto.ts'
import type { Guards } from '../../guards/guards.ts'
import { same } from '../../state/same.ts'
import { openDocument } from '../../storage/json-file.ts'
import type { Rentals } from '../rentals/rentals.ts'
import { createFailovers, type FailoverEvent, type Failovers } from './attempts.ts'
import { failoverAlert } from './attempts-alert.ts'
import { Failover } from './attempts-model.ts'
import { type FailedHosts, openFailedHosts } from './failed-hosts.ts'
import { hostFailure } from './host-failure.ts'
import { nothingAsGoodCode } from './sentences.ts'

/** The failovers of one account, in its folder on disk and in State, and the machines that failed. */
export interface KeptFailovers extends Automation, Omit<Failovers, 'looked' | 'dueAt' | 'view'> {
  readonly hosts: FailedHosts
  /** Forgets that a machine failed. */
  forgive(machine: number): Promise<void>
}

export async function openFailovers(
  context: AccountContext,
  rentals: Rentals,
  guards: Pick<Guards, 'actedOn'>,
): Promise<KeptFailovers> {
  const { account, store, machine, files, folder, onBroken, activity, teller, access, client } = context
  const { clock } = machine
  const kept = { files, clock, onBroken }
  const [document, hosts] = await Promise.all([
    openDocument({ ...kept, name: `${folder}/failovers.json`, schema: v.array(Failover), empty: [] }),
    openFailedHosts({ ...kept, name: `${folder}/failed-hosts.json` }),
  ])

  const failovers = createFailovers({
    account,
    document,
    hosts,
    rentals,
    keychain: context.keychain,
    client,
    knock: async instance => {
      await access.probe({ account, instance, client: client() })
    },
    heldBack: more => heldBack(store.get().accounts[account], { more }, context.now()),
    stopperOf(instance) {
      const guard =
        guards.actedOn(instance) ?? stopperOf(store.get().accounts[account], instance, context.now())
      return guard && { why: stoppedBy(guard), alone: guard.instance !== undefined }
    },
    ending: context.ending,
    now: context.now,
    newId: context.newId,
    changed: show,
    poll: context.poll,
    tell,
  })

  function tell({ failover, text, detail, problem, instance, asked, end }: FailoverEvent): void {
    const { request, search } = failover
    const what = request.label || search.filter.gpus?.join(', ') || request.image || request.template?.name
    activity.add({
      account,
      kind: end === 'failed' ? 'error' : asked ? 'user' : 'berth',
      text: what ? `${text}: ${what}` : text,
      ...(problem || detail ? { detail: problem?.message ?? detail ?? '' } : {}),
      ...(instance === undefined ? {} : { instance }),
    })
    const toldElsewhere = problem?.code === nothingAsGoodCode
    if (end && !toldElsewhere && store.get().settings.alerts.failover)
      teller.tell(account, [failoverAlert(account, failover)])
  }

  function show(): void {
    const shown = store.get().accounts[account]
    if (context.ending.aborted || !shown) return
    const views = failovers.view()
    const failed = hosts.view()
    if (same(shown.failovers, views) && same(shown.failedHosts, failed)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      if (!same(shown.failovers, views)) target.failovers = views
      if (!same(shown.failedHosts, failed)) target.failedHosts = failed
    })
  }

  /** What a failover still tries it judges itself. */
  async function blameHosts({ account: { instances }, at }: FreshLook): Promise<void> {
    for (const rental of rentals.all()) {
      const { id, offer, instance, unwanted, owner } = rental
      if (unwanted || instance === undefined || failovers.find(owner ?? '')?.step === 'trying') continue
      const why = hostFailure(rental, instances[instance])
      if (why !== undefined) await hosts.blame({ rental: id, offer, at, why })
    }
    show()
  }

  show()
  return {
    ...failovers,
    hosts,
    looked(look) {
      failovers.looked(look.account.instances, look.unconfirmed)
      void blameHosts(look)
      show()
    },
    // Whatever is under way goes on at the first fresh look: rentals go on by themselves.
    resume: show,
    secretOwners: () => document.get().flatMap(({ id, step }) => (step === 'trying' ? id : [])),
    async forgive(machineId) {
      await hosts.forgive(machineId)
      show()
    },
    async flush() {
      await Promise.all([document.flush(), hosts.flush()])
    },
  }
}
