import * as Type from 'typebox'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Clock } from '#platform/platform.ts'
import type { Problem } from '#shared/problem.ts'
import { accountOperations } from './account.ts'
import { apiKeys } from './api-keys.ts'
import type { BaseUrl } from './base-url.ts'
import { charges } from './charges.ts'
import { briefMemory, type DialectMemory } from './dialect.ts'
import { environment } from './environment.ts'
import { plainAnswer } from './http/answer.ts'
import { errorSentence } from './http/error-messages.ts'
import type { AnswerTime } from './http/http-request.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'
import { Pacer } from './http/pacing.ts'
import { createTransport } from './http/transport.ts'
import { instances } from './instances.ts'
import { machines } from './machines.ts'
import { offers } from './offers.ts'
import { overlays } from './overlays.ts'
import { priceIncreases } from './price-increases.ts'
import { records } from './records.ts'
import { registries } from './registries.ts'
import { ServiceError } from './service-error.ts'
import { templates } from './templates.ts'
import { transfers } from './transfers.ts'
import { twoFactor } from './two-factor.ts'
import { volumes } from './volumes.ts'
import { webhooks } from './webhooks.ts'
import { workergroups } from './workergroups.ts'

/** The service's whole interface, one group per part of section 4. */
export type FullClient = ReturnType<typeof createClient>

/** The client for everyone but the one place that stops, destroys and deletes. */
export type ServiceClient = Omit<FullClient, 'instances' | 'apiKeys' | 'volumes' | 'overlays'> & {
  instances: Omit<FullClient['instances'], 'stop' | 'destroy'>
  apiKeys: Omit<FullClient['apiKeys'], 'remove'>
  volumes: Omit<FullClient['volumes'], 'remove'>
  overlays: Omit<FullClient['overlays'], 'remove'>
}

export interface ClientOptions {
  /** See `parseBaseUrl`. */
  baseUrl: BaseUrl
  /** API or session key; sent to this origin alone. */
  key: string
  /** Called for every answer with a `Date`, failures included. Must not throw. */
  onAnswer?: (time: AnswerTime) => void
  /** Called after a 429, and before later waits because of it, with the seconds until the next try. Must not throw. */
  onTooFast?: (seconds: number) => void
  /** Milliseconds for one attempt, unless the call has its own. Default: 20,000. */
  timeout?: number
  /** Repeats of repeatable operations, unless the call has its own. Default: 3. */
  retries?: number
  /** Resolves with why nothing that changes something may be sent now; undefined where it may. */
  hindrance?: () => Promise<Problem | undefined>
  /** Keeps what the answers show of the account's deployment. By default only for the client's lifetime. */
  dialect?: DialectMemory
  /** Shared by clients with the same key, so that together they respect its limits. Default: one of its own. */
  pacer?: Pacer
  clock?: Clock
  /** From 0 up to 1, for jitter. */
  random?: () => number
}

/**
 * A client for one key at one service. Its methods also reject with the BerthError of a hindrance. @throws ServiceError
 * `bad_key` if the key cannot be sent as a header
 */
export function createClient(options: ClientOptions) {
  if (!/^[\x21-\x7e]+$/.test(options.key)) {
    throw new ServiceError({ code: 'bad_key', status: 0, ...errorSentence('bad_key') })
  }
  const clock = options.clock ?? systemClock
  const dialect = options.dialect ?? briefMemory()
  const send = createTransport({
    baseUrl: options.baseUrl,
    key: options.key,
    clock,
    pacer: options.pacer ?? new Pacer(clock),
    random: options.random ?? Math.random,
    timeout: options.timeout ?? 20_000,
    retries: options.retries ?? 3,
    onAnswer: options.onAnswer,
    onTooFast: options.onTooFast,
    hindrance: options.hindrance,
  })
  return {
    account: accountOperations(send),
    apiKeys: apiKeys(send),
    webhooks: webhooks(send),
    environment: environment(send),
    records: records(send),
    volumes: volumes(send),
    offers: offers(send, dialect),
    overlays: overlays(send),
    instances: instances(send, dialect),
    containerLogs: containerLogs(send),
    transfers: transfers(send),
    machines: machines(send),
    templates: templates(send),
    registries: registries(send),
    workergroups: workergroups(send),
    charges: charges(send),
    priceIncreases: priceIncreases(send),
    twoFactor: twoFactor(send),
  }
}

const request = operation(
  'PUT',
  '/api/v0/instances/request_logs/{id}/',
  'read',
  plainAnswer(Type.Object({ result_url: Type.String() })),
  { extra: 'item' },
)

/** Lines to request. */
const TAIL = 1000

/** The logs of containers (not in the interface, known from deployments). Every method throws ServiceError. */
function containerLogs(send: Send) {
  return {
    /**
     * Requests the end of an instance's log: the container's, or with `host` that of the daemon that pulls its image and
     * starts it. Gives the address where it will be available in some seconds: see `fetchResult`.
     */
    request: async (id: number, host: boolean, options?: CallOptions) => {
      const body = { tail: String(TAIL), daemon_logs: host ? 'true' : undefined }
      return (await send(request, { ids: { id }, body }, options)).result_url
    },
  }
}
