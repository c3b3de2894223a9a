import type { instanceCommands as declared } from '#contract/commands/instance/instances.ts'
import { rate } from '#contract/format/money.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { micros } from '#contract/spending/money.ts'
import type { UndoableActions } from '#core/actions/undoable-actions.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { problemOf } from '#core/app/problems.ts'
import { markLabel, rentalOf } from '#core/instances/mark.ts'
import { maskRecord } from '#core/instances/mask-record.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type InstanceCommands = HandlersOf<typeof declared>

export function instanceHandlers(parts: Parts): InstanceCommands {
  /** Changes an instance, notes it in Activity, and polls; also where it may have been changed all the same. */
  async function change<Answer>(
    args: OnInstance,
    verb: string | ((answer: Answer) => string),
    act: (target: ReturnType<typeof targetOf>) => Promise<Answer>,
  ) {
    const target = targetOf(parts, args)
    const answer = await needingPermission('instance_write', act(target)).catch(error => {
      if (problemOf(error).unsure) void parts.accounts.session(target.account).poll()
      throw error
    })
    noteUser(parts, target.account, typeof verb === 'string' ? verb : verb(answer), target.instance)
    await parts.accounts.session(target.account).poll()
  }

  /** Sends the user's action to an instance, through its account's actions. */
  async function act(
    args: OnInstance,
    tell: (actions: UndoableActions, instance: InstanceView) => Promise<void>,
  ): Promise<void> {
    const { account, instance } = targetOf(parts, args)
    await tell(parts.accounts.session(account).actions, instance)
  }

  /** Answers the increase that the user was shown; one that came since has another id and stays open. */
  function answerIncrease({ increase: id, ...args }: OnInstance & { increase: number }, accepted: boolean) {
    const verb = accepted ? 'Accepted the new prices of' : 'Refused the new prices of'
    return change(args, verb, ({ account, instance }) => {
      const shown = parts.store.get().accounts[account]?.priceIncreases[instance.id]
      const increase = shown?.id === id ? shown : { id, instance: instance.id }
      return parts.accounts.session(account).automations.priceIncreases.answer(increase, accepted)
    })
  }

  return {
    actSoon: ({ action, ...args }) => act(args, (actions, instance) => actions.sendSoon(instance, action)),
    undoAction: ({ account, instance }) => parts.accounts.session(account).actions.undo(instance),
    stopInstance: args => act(args, (actions, instance) => actions.send(instance, 'stop')),
    startInstance: args => act(args, (actions, instance) => actions.send(instance, 'start')),
    destroyInstance: args =>
      change(args, 'Destroyed', ({ client, instance }) => client.instances.destroy(instance.id)),
    renameInstance: ({ label, ...args }) =>
      change(args, `Renamed to “${label}”:`, ({ account, client, instance }) => {
        const record = parts.accounts.session(account).record(instance.id)
        const rental = rentalOf(record?.label, [])
        return client.instances.rename(instance.id, rental ? markLabel(label, rental) : label)
      }),
    async noteInstance({ note, tags, ...args }) {
      const { account, instance } = targetOf(parts, args)
      await parts.accounts.session(account).automations.notes.write(instance.id, { note, tags })
    },
    changeBid: ({ price, ...args }) =>
      change(args, `Bid ${rate(micros(price))} for`, ({ client, instance }) =>
        client.instances.changeBid(instance.id, price),
      ),
    acceptPriceIncrease: args => answerIncrease(args, true),
    refusePriceIncrease: args => answerIncrease(args, false),
    async instanceRecord(args) {
      const { account, instance } = targetOf(parts, args)
      return maskRecord(parts.accounts.session(account).record(instance.id) ?? {})
    },
  }
}
