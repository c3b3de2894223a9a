import { refusal, type ServiceError } from '../errors.ts'
import type { Fields } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'

const copyPath = '/commands/copy_direct/'
const syncPath = '/commands/rclone/'

/** Section 4.3: data transfer. Progress is in the status line of the instances. */
export const transferRoutes: Routes = {
  [`PUT ${copyPath}`]: { permission: 'instance_write', threshold: 3.5, answer: copy },
  [`DELETE ${copyPath}`]: { permission: 'instance_write', threshold: 3.5, answer: cancelCopy },
  [`POST ${syncPath}`]: { permission: 'instance_write', call: 'api.commands.rclone', answer: sync },
  [`DELETE ${syncPath}`]: { permission: 'instance_write', answer: cancelSync },
}

/** A side without an id, or with `local`, is the caller's own machine. */
function copy({ world, profile, body }: ApiRequest) {
  const fields = body()
  const paths = { src: readText(fields, 'src_path'), dst: readText(fields, 'dst_path') }
  const source = readSide(fields, 'src_id')
  const target = readSide(fields, 'dst_id')
  if (source === null && target === null) throw fields.refuse('src_id or dst_id must be an instance.')
  for (const id of [source, target]) {
    if (id === null) continue
    const instance = world.instances.find(id)
    if (!instance) throw noSuchUser(id)
    const mayRest = id === source && profile.copies === 'paused'
    if (instance.status !== 'running' && !mayRest) throw fields.refuse(`Instance ${id} is not running.`)
  }
  world.transfers.start(
    'copy',
    { instanceId: source, path: paths.src },
    { instanceId: target, path: paths.dst },
    profile.copies === 'paused',
  )
  return {
    success: true,
    msg: 'The copy has begun. Its progress is in the status of the instance, 30 s late.',
  }
}

/** Ends the copies into an instance. */
function cancelCopy({ world, body }: ApiRequest) {
  const fields = body()
  const id = readId(fields, 'dst_id')
  if (!world.instances.find(id)) throw noSuchUser(id)
  const count = world.transfers.cancel('copy', id)
  return { success: true, msg: count > 0 ? 'The copy is cancelled.' : 'No copy was under way.' }
}

/** Every refusal is 400 without a code, as section 4.3 has it. */
function sync({ world, body }: ApiRequest) {
  const fields = body(null)
  const id = readId(fields, 'instance_id')
  const source = readText(fields, 'src')
  const target = readText(fields, 'dst')
  readText(fields, 'selected')
  const outward = readDirection(fields)
  fields.optionalStrings('flags')
  fields.optionalString('api_key')
  const instance = world.instances.find(id)
  if (!instance) throw fields.refuse(`There is no instance ${id} on this account.`)
  if (instance.status !== 'running') throw fields.refuse(`Instance ${id} is not running.`)
  const here = { instanceId: id, path: outward ? source : target }
  const cloud = { instanceId: null, path: outward ? target : source }
  world.transfers.start('sync', outward ? here : cloud, outward ? cloud : here)
  const resultUrl = `https://results.example.com/rclone/${id}/${Math.floor(world.clock.now() / 1000)}.txt`
  return { success: true, msg: 'The sync has begun.', result_url: resultUrl }
}

function cancelSync({ world, body }: ApiRequest) {
  const id = body().integer('dst_id')
  world.instances.get(id)
  const count = world.transfers.cancel('sync', id)
  const msg = 'The sync is cancelled. It cannot be resumed, only started again.'
  return { success: true, msg: count > 0 ? msg : 'No sync was under way.' }
}

function noSuchUser(id: number): ServiceError {
  return refusal(404, 'no_such_user', `Instance ${id} was not found, or access to it is denied.`)
}

function readText(fields: Fields, name: string): string {
  const text = fields.string(name)
  if (text.trim() === '') throw fields.refuse(`${name} must not be empty.`)
  return text
}

/** An instance id that is written as text. */
function readId(fields: Fields, name: string): number {
  const text = fields.string(name)
  if (!/^\d{1,15}$/.test(text)) throw fields.refuse(`${name} must be the id of an instance, as text.`)
  return Number(text)
}

function readSide(fields: Fields, name: string): number | null {
  const text = fields.optionalString(name) ?? ''
  return text === '' || text === 'local' ? null : readId(fields, name)
}

/** Whether data goes from the instance to the cloud. */
function readDirection(fields: Fields): boolean {
  const transfer = fields.string('transfer').toLowerCase()
  if (transfer === 'instance to cloud') return true
  if (transfer === 'cloud to instance') return false
  throw fields.refuse('transfer must be Instance To Cloud or Cloud To Instance.')
}
