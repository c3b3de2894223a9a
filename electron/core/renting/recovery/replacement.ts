import type { RecoveryChoice } from '#contract/automation/recovery.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { withoutParts } from '#contract/market/search-part.ts'
import { BerthError } from '#contract/problem.ts'
import { replacesVariable } from '#core/instances/mark.ts'
import type { Instance } from '#service/instances.ts'
import type { AttemptSeriesRequest } from '../attempts/service.ts'
import { asGoodAs } from '../rentals/as-good.ts'
import type { Rental } from '../rentals/model.ts'
import { requestLike, withoutOffer } from '../rentals/request-like.ts'

/**
 * The request for a machine as good as the instance's, rented as it was, for a bid up to the choice's ceiling, which
 * replaces the price limit of its search. Throws `no_gpu_known` or `secrets_lost` where it cannot be rented as it was.
 */
export function replacementFor(
  instance: InstanceView,
  rental: Rental | undefined,
  record: Instance | undefined,
  { ceiling, limits }: Extract<RecoveryChoice, { kind: 'replace' }>,
): AttemptSeriesRequest {
  const { gpu } = instance
  if (!gpu)
    throw new BerthError({
      code: 'no_gpu_known',
      message: 'The service does not say what GPUs this instance has, so no other can be chosen for it.',
      advice: 'Raise the bid instead, or rent another by hand.',
    })
  const known = rental ? withoutOffer(rental.request) : requestLike(instance, record)
  if (known.registry) throw secretsLost(`the token of ${known.registry.server}`)
  const env = known.env.map(variable => ({
    ...variable,
    value: variable.secret ? secretOf(variable.name, record) : variable.value,
  }))
  const request = {
    ...known,
    env: [...env, { name: replacesVariable, value: String(instance.id), secret: false }],
    bid: ceiling,
  }
  return {
    replaces: instance.id,
    request,
    limits,
    search: {
      ...withoutParts(asGoodAs({ request, rental, gpu, record }), ['price']),
      order: { column: 'price', descending: false },
    },
  }
}

/** Berth deletes secret values once the instance exists, but the service has them in the environment. */
function secretOf(name: string, record: Instance | undefined): string {
  const value = record?.extra_env?.find(([known]) => known === name)?.[1]
  if (value === undefined) throw secretsLost(`the secret ${name}`)
  return value
}

function secretsLost(secret: string): BerthError {
  return new BerthError({
    code: 'secrets_lost',
    message: `It was rented with ${secret}, which Berth does not keep and this service does not show.`,
    advice: 'Raise the bid instead, or rent another by hand.',
  })
}
