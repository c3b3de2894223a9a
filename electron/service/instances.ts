import type { DialectMemory } from './dialect.ts'
import { wrappedOrNull } from './http/answer.ts'
import {
  type Confirmation,
  confirmation,
  type LooseConfirmation,
  looseConfirmation,
  removed,
} from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'
import { errorSentence } from './http/sentences.ts'
import { type InstanceList, type ListOptions, listInstances } from './instance-list.ts'
import { type Instance, oneInstanceShape } from './instance-record.ts'
import { ServiceError } from './service-error.ts'

export type { InstanceList, ListOptions } from './instance-list.ts'
export type { Instance } from './instance-record.ts'

const one: Operation<{ instances: NonNullable<typeof oneInstanceShape.record> | null }> = {
  method: 'GET',
  path: '/api/v0/instances/{id}/',
  repeat: 'read',
  answer: wrappedOrNull('instances', oneInstanceShape),
}

const change: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/instances/{id}/',
  repeat: 'harmless',
  answer: confirmation,
}

const start: Operation<LooseConfirmation> = { ...change, answer: looseConfirmation, tookEffect: isQueued }

const destroy: Operation<Confirmation> = { ...change, method: 'DELETE' }

const reboot: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/instances/reboot/{id}/',
  repeat: 'never',
  answer: confirmation,
  extra: 'item',
}

const attachKey: Operation<Confirmation> = {
  method: 'POST',
  path: '/api/v0/instances/{id}/ssh/',
  repeat: 'harmless',
  answer: confirmation,
}

const changeBid: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/instances/bid_price/{id}/',
  repeat: 'harmless',
  answer: confirmation,
}

/** Instances (section 4.2). Every method throws ServiceError. */
export interface Instances {
  /** The account's instances, and whether the list is complete: see {@link InstanceList}. */
  list(options?: ListOptions): Promise<InstanceList>
  /**
   * One instance. `not_found` or `no_such_instance` if it is gone; deployments answer the same for one that was
   * created within the last minute.
   */
  one(id: number, options?: CallOptions): Promise<Instance>
  /** Stops it: GPU charges end, disk charges continue. */
  stop(id: number, options?: CallOptions): Promise<void>
  /**
   * Starts a stopped instance (not in the interface, known from deployments). `queued`: no GPU is free now, and it
   * runs, and is charged, once one is.
   */
  start(id: number, options?: CallOptions): Promise<{ queued: boolean }>
  /** Changes its label (known from deployments). */
  rename(id: number, label: string, options?: CallOptions): Promise<void>
  /** Removes it and all its data; every charge ends. A 404 after a lost answer counts as success. */
  destroy(id: number, options?: CallOptions): Promise<void>
  /** Restarts its container (known from deployments; `not_supported` elsewhere). Never repeated automatically. */
  reboot(id: number, options?: CallOptions): Promise<void>
  /** Attaches a public key, one line of OpenSSH's format. The answer has the service's own words. */
  attachSshKey(id: number, publicKey: string, options?: CallOptions): Promise<Confirmation>
  /** Changes the bid, dollars per hour, 0.001 to 32. `invalid_args` or `no_such_instance`; 5.5 a second. */
  changeBid(id: number, price: number, options?: CallOptions): Promise<void>
}

/** Deployments refuse a start that waits for a GPU, in these words, and start the instance once there is one. */
function isQueued(body: unknown): boolean {
  return /state change queued|"resources_unavailable"/i.test(JSON.stringify(body) ?? '')
}

export function instances(send: Send, memory: DialectMemory): Instances {
  return {
    list: options => listInstances(send, memory, options),
    one: async (id, options) => {
      const { instances: instance } = await send(one, { ids: { id } }, options)
      if (instance === null)
        throw new ServiceError({
          code: 'no_such_instance',
          status: 404,
          ...errorSentence('no_such_instance'),
        })
      return Object.assign(instance, { id: instance.id ?? id })
    },
    stop: async (id, options) => {
      await send(change, { ids: { id }, body: { state: 'stopped' } }, options)
    },
    start: async (id, options) => {
      const answer = await send(start, { ids: { id }, body: { state: 'running' } }, options)
      return { queued: isQueued(answer) }
    },
    rename: async (id, label, options) => {
      await send(change, { ids: { id }, body: { label } }, options)
    },
    destroy: async (id, options) => {
      await removed(send(destroy, { ids: { id } }, options))
    },
    reboot: async (id, options) => {
      await send(reboot, { ids: { id } }, options)
    },
    attachSshKey: (id, publicKey, options) =>
      send(attachKey, { ids: { id }, body: { ssh_key: publicKey } }, options),
    changeBid: async (id, price, options) => {
      await send(changeBid, { ids: { id }, body: { client_id: 'me', price } }, options)
    },
  }
}
