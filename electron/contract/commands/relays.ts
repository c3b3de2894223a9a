import * as v from 'valibot'
import { RelayForm, RelayId } from '#shared/relay.ts'
import { command } from './command.ts'

const address = v.pipe(
  v.string(),
  v.nonEmpty('enter the address'),
  v.maxLength(2048, 'at most 2048 characters'),
)

/** Where alerts are also sent. All throw `no_such_relay` for one that is gone. */
export const relayCommands = {
  /**
   * Gives the secret that signs a webhook's messages, this once. Throws `wrong_address`, `no_topic` for one of ntfy, `too_many_relays`,
   * and for instances `more_than_sends` or `one_for_instances`.
   */
  addRelay: command({ form: RelayForm, address }).answers<{ secret?: string | undefined }>(),
  /** Changes all but its kind; without an address, that stays. */
  changeRelay: command({ relay: RelayId, form: RelayForm, address: v.optional(address) }).answers<void>(),
  removeRelay: command({ relay: RelayId }).answers<void>(),
  /** Sends a message at once, and then the alerts that wait. Throws why it was not accepted. */
  testRelay: command({ relay: RelayId }).answers<void>(),
}
