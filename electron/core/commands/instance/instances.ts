import { rate } from '../../../contract/format/money.ts'
import { micros } from '../../../contract/spending/money.ts'
import type { Handlers } from '../../app/page/dispatcher.ts'
import { needing } from '../../app/permission.ts'
import { markLabel, rentalOf } from '../../instances/mark.ts'
import { maskRecord } from '../../instances/mask-record.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type InstanceCommands = Pick<
  Handlers,
  | 'stopInstance'
  | 'startInstance'
  | 'rebootInstance'
  | 'destroyInstance'
  | 'renameInstance'
  | 'changeBid'
  | 'acceptPriceIncrease'
  | 'refusePriceIncrease'
  | 'instanceRecord'
>

export function instanceCommands(parts: Parts): InstanceCommands {
  /** One change to one instance: done, written down, and looked at. */
  async function change<Answer>(
    args: OnInstance,
    verb: string | ((answer: Answer) => string),
    act: (door: ReturnType<typeof targetOf>) => Promise<Answer>,
  ) {
    const door = targetOf(parts, args)
    const answer = await needing('instance_write', act(door))
    noteUser(parts, door.account, typeof verb === 'string' ? verb : verb(answer), door.instance)
    await parts.accounts.session(door.account).look()
  }

  /** Answers what the user was shown; another question since then has another id, and waits on. */
  function answerIncrease({ increase: id, ...args }: OnInstance & { increase: number }, accepted: boolean) {
    const verb = accepted ? 'Accepted the new prices of' : 'Refused the new prices of'
    return change(args, verb, ({ account, instance }) => {
      const shown = parts.store.get().accounts[account]?.priceIncreases[instance.id]
      const increase = shown?.id === id ? shown : { id, instance: instance.id }
      return parts.accounts.session(account).automations.priceIncreases.answer(increase, accepted)
    })
  }

  return {
    stopInstance: args =>
      change(args, 'Stopped', ({ client, instance }) => client.instances.stop(instance.id)),
    startInstance: args =>
      change(
        args,
        ({ queued }: { queued: boolean }) => (queued ? 'Start queued until a GPU is free:' : 'Started'),
        ({ client, instance }) => client.instances.start(instance.id),
      ),
    rebootInstance: args =>
      change(args, 'Rebooted', ({ client, instance }) => client.instances.reboot(instance.id)),
    destroyInstance: args =>
      change(args, 'Destroyed', ({ client, instance }) => client.instances.destroy(instance.id)),
    renameInstance: ({ label, ...args }) =>
      change(args, `Renamed to “${label}”:`, ({ account, client, instance }) => {
        const record = parts.accounts.session(account).record(instance.id)
        const rental = rentalOf(record?.label, [])
        return client.instances.rename(instance.id, rental ? markLabel(label, rental) : label)
      }),
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
