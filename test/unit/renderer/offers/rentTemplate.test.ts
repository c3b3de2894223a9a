import { describe, expect, test } from 'vitest'
import { emptyDraft } from '#renderer/features/market/rentDefaults.ts'
import { newVolume, noVolume, type RentDraft } from '#renderer/features/market/rentDraft.ts'
import { noVolumeRoom, readDraft } from '#renderer/features/market/rentForm.ts'
import {
  filledValues,
  overridden,
  rentTemplate,
  unmetConditions,
  withFilled,
} from '#renderer/features/market/rentTemplate.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { TemplateView } from '#shared/market/template.ts'
import { offer } from './listed.ts'

const fresh: RentDraft = { ...emptyDraft(), image: 'pytorch/pytorch:latest', disk: '20' }
const view: TemplateView = {
  name: 'Trainer',
  hash: 'abc',
  image: 'me/trainer',
  tag: 'v2',
  runtype: 'args',
  args: '--epochs 3',
  onstart: 'echo hi',
  disk: 64,
  env: `-e A=1 -e B='x y' -p 8080:8080`,
  extraFilters: { num_gpus: { gte: 2 }, verified: { eq: true }, compute_cap: { gte: 800 } },
  volumeInfo: { create_new: false, volume_id: 9, mount_path: '/data' },
}
const template = rentTemplate(view, filledValues(fresh))
const filled = withFilled(fresh, filledValues(fresh), template.values?.fields ?? filledValues(fresh))
const machine = offer({ id: 7, disk: 400, gpuCount: 1, verified: true })
const read = (draft: RentDraft) => readDraft(draft, machine, false, template)

describe('a template fills in the dialog', () => {
  test('with its image, launch mode, disk, start script, arguments and volume', () => {
    expect(filled).toMatchObject({
      image: 'me/trainer:v2',
      access: 'none',
      disk: '64',
      onstart: 'echo hi',
      args: '--epochs 3',
      volume: { mode: 'link', volume: '9', mountPath: '/data' },
    })
    expect(overridden(filled, template)).toEqual([])
  })

  test('but keeps typed values, which become overrides', () => {
    const typed = withFilled({ ...fresh, disk: '32' }, filledValues(fresh), template.values?.fields ?? fresh)
    expect(typed.disk).toBe('32')
    expect(overridden(typed, template)).toEqual(['disk'])
  })
})

describe('the request', () => {
  test('omits values that the template has', () => {
    expect(read(filled)).toEqual({
      request: {
        offer: 7,
        image: '',
        access: 'none',
        disk: 64,
        env: [],
        ports: [],
        template: { hash: 'abc', name: 'Trainer' },
        volume: { create: false, volume: 9, mountPath: '/data' },
      },
    })
  })

  test('contains every override, emptied texts too', () => {
    expect(read({ ...filled, image: 'me/other', onstart: '', args: '--epochs 4' })).toMatchObject({
      request: { image: 'me/other', onstart: '', args: '--epochs 4' },
    })
  })

  test('brings the template’s script where a watchdog is to come before it', () => {
    const asleep = [{ when: { kind: 'duration', seconds: 3600 }, action: 'stop', asleep: true } as const]
    const scriptOf = (draft: Partial<RentDraft>) => {
      const given = read({ ...filled, args: '', access: 'ssh', ...draft })
      return 'request' in given ? given.request.onstart : given.errors
    }
    expect(scriptOf({ limits: asleep })).toBe('echo hi')
    expect(scriptOf({ limits: [] })).toBeUndefined()
    expect(scriptOf({ limits: asleep, access: 'none' })).toBeUndefined()
  })

  test('needs an image, unless its template is known by hash alone', () => {
    expect(readDraft({ ...fresh, image: '' }, machine, false)).toHaveProperty('errors.image')
    const byHash = readDraft({ ...fresh, image: '' }, machine, false, { hash: 'x', name: 'x' })
    expect(byHash).toMatchObject({ request: { image: '', template: { hash: 'x' } } })
  })

  test('an empty volume is reported at its field', () => {
    const draft = { ...fresh, volume: { ...noVolume, mode: 'new' } as const }
    expect(readDraft(draft, machine, false)).toHaveProperty('errors.volume')
  })

  test('a new volume has a name, and the room that its machine offers', () => {
    const draft = { ...fresh, volume: newVolume('data') }
    const roomy = { ...machine, machineId: 3, volumeOffer: 30 }
    const wanted = { create: true, name: 'data', size: 50, mountPath: '/data' }
    expect(readDraft(draft, roomy, false)).toMatchObject({ request: { volume: wanted } })
    const errorOn = (other: OfferView) => readDraft(draft, other, false)
    expect(errorOn({ ...roomy, volumeRoom: 40 })).toEqual({
      errors: { volume: 'This machine has 40 GB for a volume.' },
    })
    expect(errorOn({ ...roomy, volumeOffer: undefined })).toHaveProperty('errors.volume', noVolumeRoom)
  })
})

test('unmet filters of the template are named where the offer is known to miss them', () => {
  expect(unmetConditions(template, machine, 'on-demand')).toEqual(['Count 2+'])
  expect(unmetConditions(template, { ...machine, gpuCount: 2, verified: false }, 'on-demand')).toEqual([
    'a verified host',
  ])
})
