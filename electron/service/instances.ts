import * as Type from 'typebox'
import type { MachineReport } from '#shared/instance/machine-report.ts'
import type { DialectMemory } from './dialect.ts'
import {
  type Confirmation,
  confirmation,
  type LooseConfirmation,
  looseConfirmation,
  plainAnswer,
  removed,
  wrappedOrNull,
} from './http/answer.ts'
import { errorSentence } from './http/error-messages.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'
import { type ListOptions, listInstances } from './instance-list.ts'
import { oneInstanceShape } from './instance-record.ts'
import { ServiceError } from './service-error.ts'

export type { InstanceList, ListOptions } from './instance-list.ts'
export type { Instance } from './instance-record.ts'

const one = operation('GET', '/api/v0/instances/{id}/', 'read', wrappedOrNull('instances', oneInstanceShape))

const change = operation('PUT', '/api/v0/instances/{id}/', 'harmless', confirmation)

const start: Operation<LooseConfirmation> = { ...change, answer: looseConfirmation, tookEffect: isQueued }

const destroy: Operation<Confirmation> = { ...change, method: 'DELETE' }

const reboot = operation('PUT', '/api/v0/instances/reboot/{id}/', 'never', confirmation, { extra: 'item' })

const report = operation('PUT', '/api/v0/machines/{machine}/report', 'never', looseConfirmation, {
  extra: 'item',
})

const prepay = operation(
  'PUT',
  '/api/v0/instances/prepay/{id}/',
  'never',
  plainAnswer(Type.Object({ timescale: Type.Number(), discount_rate: Type.Number() })),
  { extra: 'item' },
)

const deposit = operation(
  'GET',
  '/api/v0/instances/balance/{id}/',
  'read',
  plainAnswer(Type.Object({ refundable_deposit: Type.Number(), total_discount: Type.Number() })),
  { extra: 'item' },
)

const attachKey = operation('POST', '/api/v0/instances/{id}/ssh/', 'harmless', confirmation)

const changeBid = operation('PUT', '/api/v0/instances/bid_price/{id}/', 'harmless', confirmation)

/** Deployments refuse a start that waits for a GPU, in these words, and start the instance once there is one. */
function isQueued(body: unknown): boolean {
  return /state change queued|"resources_unavailable"/i.test(JSON.stringify(body) ?? '')
}

/** Instances (section 4.2). Every method throws ServiceError. */
export function instances(send: Send, memory: DialectMemory) {
  return {
    /** The account's instances, and whether the list is complete: see {@link InstanceList}. */
    list: (options?: ListOptions) => listInstances(send, memory, options),
    /**
     * One instance. `not_found` or `no_such_instance` if it is gone; deployments answer the same for one that was
     * created within the last minute.
     */
    one: async (id: number, options?: CallOptions) => {
      const { instances: instance } = await send(one, { ids: { id } }, options)
      if (instance === null)
        throw new ServiceError({
          code: 'no_such_instance',
          status: 404,
          isServices: true,
          ...errorSentence('no_such_instance'),
        })
      return Object.assign(instance, { id: instance.id ?? id })
    },
    /** Stops it: GPU charges end, disk charges continue. */
    stop: async (id: number, options?: CallOptions) => {
      await send(change, { ids: { id }, body: { state: 'stopped' } }, options)
    },
    /**
     * Starts a stopped instance (not in the interface, known from deployments). `queued`: no GPU is free now, and it
     * runs, and is charged, once one is.
     */
    start: async (id: number, options?: CallOptions) => {
      const answer = await send(start, { ids: { id }, body: { state: 'running' } }, options)
      return { queued: isQueued(answer) }
    },
    /** Changes its label (known from deployments). */
    rename: async (id: number, label: string, options?: CallOptions) => {
      await send(change, { ids: { id }, body: { label } }, options)
    },
    /** Removes it and all its data; every charge ends. A 404 after a lost answer counts as success. */
    destroy: async (id: number, options?: CallOptions) => {
      await removed(send(destroy, { ids: { id } }, options))
    },
    /** Restarts its container (known from deployments; `not_supported` elsewhere). Never repeated automatically. */
    reboot: async (id: number, options?: CallOptions) => {
      await send(reboot, { ids: { id } }, options)
    },
    /**
     * Reports a machine on which the account has an instance, to the service and its host (known from deployments). 1
     * request in 1.2 seconds.
     */
    report: async (
      id: number,
      machine: number,
      { problem, message }: MachineReport,
      options?: CallOptions,
    ) => {
      const body = { instance_id: id, problem, message: message === '' ? undefined : message }
      await send(report, { ids: { machine }, body }, options)
    },
    /**
     * Pays dollars ahead for an on-demand instance (known from deployments): the months that they are for, and the discount
     * from now on, 0 to 1. `refused` where the credit is too low, `invalid_args`; never repeated automatically. 1 request in 2 seconds.
     */
    prepay: async (id: number, amount: number, options?: CallOptions) => {
      const { timescale, discount_rate } = await send(prepay, { ids: { id }, body: { amount } }, options)
      return { months: timescale, discount: discount_rate }
    },
    /** Dollars that destroying it now pays back, and that the discount has saved so far. 1 request in 3 seconds. */
    prepaid: async (id: number, options?: CallOptions) => {
      const { refundable_deposit, total_discount } = await send(deposit, { ids: { id } }, options)
      return { refundable: refundable_deposit, saved: total_discount }
    },
    /** Attaches a public key, one line of OpenSSH's format. The answer has the service's own words. */
    attachSshKey: (id: number, publicKey: string, options?: CallOptions) =>
      send(attachKey, { ids: { id }, body: { ssh_key: publicKey } }, options),
    /** Changes the bid, dollars per hour, 0.001 to 32. `invalid_args` or `no_such_instance`; 5.5 a second. */
    changeBid: async (id: number, price: number, options?: CallOptions) => {
      await send(changeBid, { ids: { id }, body: { client_id: 'me', price } }, options)
    },
  }
}
