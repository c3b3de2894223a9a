import { type RegistryLogin, type RentRequest, startScriptTooLong } from '#contract/market/rental.ts'
import { BerthError } from '#contract/problem.ts'
import { markLabel, markVariable } from '#core/instances/mark.ts'
import type { NewInstance, VolumeInfo } from '#service/offers.ts'

const runtypes = { ssh: 'ssh', jupyter: 'jupyter', none: 'args' } as const

/** Runtypes of deployments that go beyond the interface: a list of ways, with the direct ones spelt as there. */
const directRuntypes = {
  ssh: 'ssh_direc ssh_proxy',
  jupyter: 'jupyter_direc ssh_direc ssh_proxy',
  none: 'args',
}
const proxyRuntypes = { ssh: 'ssh_proxy', jupyter: 'jupyter_proxy ssh_proxy', none: 'args' }

/**
 * The rent dialog's request in the form of section 4.2, with the rental's mark in label and environment. An empty text
 * overrides a template's, so it is sent. `beyondInterface`: whether the deployment goes beyond the interface. Throws as
 * {@link checkLengths}.
 */
export function requestBody(request: RentRequest, rental: string, beyondInterface: boolean): NewInstance {
  checkLengths(request, beyondInterface)
  const { image, disk, access, onstart, label, bid, template, args, volume, registry } = request
  return {
    image: image || undefined,
    template_hash_id: template?.hash,
    disk,
    ...(beyondInterface ? waysIn(request) : interfaceWaysIn(request)),
    ...(access === 'jupyter' ? jupyterFields(request) : {}),
    ...(registry ? (beyondInterface ? imageLogin(registry) : dockerLogin(registry)) : {}),
    env: {
      ...Object.fromEntries(request.env.map(({ name, value }) => [name, value])),
      ...Object.fromEntries(request.ports.map(port => [portFlag(port), '1'])),
      [markVariable]: rental,
    },
    label: markLabel(label, rental),
    ...(onstart || (template && onstart !== undefined) ? { onstart } : {}),
    ...(access === 'none' && (args || (template && args !== undefined)) ? { args_str: args } : {}),
    ...(volume ? { volume_info: volumeInfo(volume) } : {}),
    ...(bid === undefined ? {} : { price: bid }),
  }
}

/** Throws `invalid_argument` for what is longer than the deployment takes, before anything is sent. */
export function checkLengths({ onstart = '' }: Pick<RentRequest, 'onstart'>, beyondInterface: boolean): void {
  const problem = startScriptTooLong(onstart, beyondInterface)
  if (problem === undefined) return
  throw new BerthError({
    code: 'invalid_argument',
    message: `The start script is too long. ${problem}`,
    advice: 'Shorten it, or let it fetch the rest.',
    field: 'request.onstart',
  })
}

/** Requests direct SSH as well as the proxy, since it is faster; a template decides that itself. */
function interfaceWaysIn({ access, template }: RentRequest): NewInstance {
  const ssh = access === 'none' ? {} : { use_ssh: true, ssh_direct: template ? undefined : true }
  return { runtype: runtypes[access], ...ssh }
}

function waysIn({ access, direct = true }: RentRequest): NewInstance {
  return { runtype: (direct ? directRuntypes : proxyRuntypes)[access] }
}

function jupyterFields({ jupyter, template }: RentRequest): NewInstance {
  if (!jupyter) return template ? {} : { use_jupyter_lab: true }
  const { lab, folder } = jupyter
  return { use_jupyter_lab: lab, jupyter_dir: folder || template ? folder || null : undefined }
}

function imageLogin({ server, user, token }: RegistryLogin): NewInstance {
  return { image_login: `-u ${user} -p ${token} ${server}` }
}

function dockerLogin({ server, user, token }: RegistryLogin): NewInstance {
  return { docker_login_repo: server, docker_login_user: user, docker_login_pass: token }
}

function volumeInfo(volume: NonNullable<RentRequest['volume']>): VolumeInfo {
  const { create, volume: volume_id, mountPath: mount_path } = volume
  return { create_new: create, volume_id, mount_path, size: volume.create ? volume.size : undefined }
}

function portFlag({ container, outside = container, protocol }: RentRequest['ports'][number]): string {
  return `-p ${outside}:${container}${protocol === 'udp' ? '/udp' : ''}`
}
