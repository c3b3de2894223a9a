import { type Capabilities, describedCapabilities, publicCapabilities } from '#shared/account/capabilities.ts'
import type { NewInstance, RentalBody } from './new-instance.ts'

/** What an account's answers showed of its deployment. Stored across restarts, it saves the first poll a request. */
export interface Learnt {
  /** The list of instances that it has: the interface's, or a newer one in pages that replaced it. */
  list?: ListVersion
  /** Its offers or instances have prices by part, which the interface lacks. */
  pricesByPart?: true
}

export type ListVersion = 'v0' | 'v1'

export interface DialectMemory {
  get(): Learnt
  set(learnt: Learnt): void
}

/** How a deployment differs from others. */
interface Dialect {
  capabilities: Capabilities
  /** How a rental asks for its ways in. */
  waysIn(access: NonNullable<NewInstance['access']>, request: NewInstance): RentalBody
  /** How a rental logs in to its image's registry. */
  registryLogin(login: NonNullable<NewInstance['registry']>): RentalBody
}

/** The interface, as its description has it. */
const described: Dialect = {
  capabilities: describedCapabilities,
  /** Requests direct SSH as well as the proxy, since it is faster; a template decides that itself. */
  waysIn(access, { template_hash_id }) {
    if (access === 'none') return { runtype: 'args' }
    return { runtype: access, use_ssh: true, ssh_direct: template_hash_id === undefined ? true : undefined }
  },
  registryLogin: ({ server, user, token }) => ({
    docker_login_repo: server,
    docker_login_user: user,
    docker_login_pass: token,
  }),
}

/** Lists of ways, with the direct ones spelt as there. */
const directRuntypes = { ssh: 'ssh_direc ssh_proxy', jupyter: 'jupyter_direc ssh_direc ssh_proxy' }
const proxyRuntypes = { ssh: 'ssh_proxy', jupyter: 'jupyter_proxy ssh_proxy' }

const publicDeployment: Dialect = {
  capabilities: publicCapabilities,
  waysIn(access, { direct = true }) {
    return { runtype: access === 'none' ? 'args' : (direct ? directRuntypes : proxyRuntypes)[access] }
  },
  registryLogin: ({ server, user, token }) => ({ image_login: `-u ${user} -p ${token} ${server}` }),
}

function dialectOf({ list, pricesByPart }: Learnt): Dialect {
  return list === 'v1' || pricesByPart ? publicDeployment : described
}

/** The service’s behaviour and limits, as far as is known. */
export function capabilitiesOf(learnt: Learnt): Capabilities {
  return dialectOf(learnt).capabilities
}

/** A rental's body in the deployment's own words. */
export function rentalBody(learnt: Learnt, request: NewInstance): RentalBody {
  const { access, direct: _, registry, ...same } = request
  const dialect = dialectOf(learnt)
  return {
    ...same,
    ...(access && dialect.waysIn(access, request)),
    ...(registry && dialect.registryLogin(registry)),
  }
}

/** Learns from the records of an answer: services that give prices by part have more that the interface lacks. */
export function learnFromRecords(memory: DialectMemory, records: readonly PricedRecord[]): void {
  const hasParts = ({ storage_total_cost, search }: PricedRecord) =>
    storage_total_cost !== undefined || search !== undefined
  if (records.some(hasParts)) learn(memory, { pricesByPart: true })
}

interface PricedRecord {
  storage_total_cost?: number
  search?: unknown
}

/** Notes in memory what an answer shows, if that is new. */
export function learn(memory: DialectMemory, shown: Learnt): void {
  const learnt = memory.get()
  const after = { ...learnt, ...shown }
  if (after.list === learnt.list && after.pricesByPart === learnt.pricesByPart) return
  memory.set(after)
}

/** A memory for a client's lifetime. */
export function briefMemory(): DialectMemory {
  let learnt: Learnt = {}
  return {
    get: () => learnt,
    set: after => {
      learnt = after
    },
  }
}
