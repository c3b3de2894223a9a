import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { plainTemplate } from '#test/berth/template.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { profileNames, profiles } from '../profiles.ts'

let world: World
let berth: BerthUnderTest

const trainer = {
  ...plainTemplate,
  name: 'Trainer',
  image: 'pytorch/pytorch',
  description: 'Trains',
  readme: '# Trains',
  env: '-e KEPT=1 -e MODE=template',
  registry: 'ghcr.io',
  registryUser: 'me',
  registryToken: 'very-secret-token',
  extraFilters: { num_gpus: { eq: 1 } },
  disk: 24,
}

describe.each(profileNames)('templates of the %s', name => {
  beforeEach(async () => {
    world = await createWorld({ deployment: profiles[name], limits: false })
    berth = await world.startConnected()
  })
  afterEach(() => world.close())

  const search = (name: string) =>
    berth.run('searchTemplates', { filters: [{ field: 'name', condition: { operator: 'eq', value: name } }] })

  test('a created template is read back as own, without the registry’s token', async () => {
    const { id, hash } = await berth.run('createTemplate', { fields: trainer })
    const [template] = await search('Trainer')
    const { registryToken: _, tag: __, jupyterFolder: ___, volumeInfo: ____, ...told } = trainer
    expect(template).toMatchObject({ ...told, id, hash, own: true, tag: 'latest' })
    expect(JSON.stringify([template, berth.berth.state()])).not.toContain('very-secret-token')
  })

  test('an edit changes only the named fields and the hash, and the old hash is unknown', async () => {
    const { hash } = await berth.run('createTemplate', { fields: trainer })
    const edited = await berth.run('editTemplate', { hash, changes: { disk: 32 } })
    expect(edited.hash).not.toBe(hash)
    expect((await search('Trainer'))[0]).toMatchObject({ hash: edited.hash, disk: 32, env: trainer.env })
    await expect(berth.run('editTemplate', { hash, changes: { disk: 8 } })).rejects.toMatchObject({
      problem: { code: expect.stringMatching(/not_found|no_such/) },
    })
  })

  test('an instance is rented from a template, and rented again from its edited version', async () => {
    const { hash } = await berth.run('createTemplate', { fields: trainer })
    const { offers } = await berth.run('searchOffers', {
      query: {
        type: 'on-demand',
        verifiedOnly: true,
        storage: 24,
        limit: 50,
        extra: { num_gpus: { eq: 1 }, cuda_max_good: { gte: 11 } },
      },
    })
    expect(offers.every(offer => offer.gpuCount === 1 && (offer.cuda ?? 0) >= 11)).toBe(true)
    const [offer] = offers
    if (!offer) throw new Error('the market has nothing')
    await berth.run('rent', {
      request: {
        offer: offer.id,
        image: '',
        access: 'ssh',
        disk: 24,
        env: [{ name: 'MODE', value: 'mine', secret: false }],
        ports: [],
        template: { hash, name: 'Trainer' },
      },
    })
    await berth.until(() => Object.keys(berth.account().instances).length === 1)
    const [instance] = Object.values(berth.account().instances)
    if (!instance) throw new Error('there is no instance')
    expect(instance.image).toBe('pytorch/pytorch:latest')
    const edited = await berth.run('editTemplate', { hash, changes: { disk: 32 } })
    const { request } = await berth.run('findReplacement', { instance: instance.id })
    expect(request.template).toEqual({ hash: edited.hash, name: 'Trainer' })
  })

  test('an own template can be deleted, another user’s cannot', async () => {
    const { id } = await berth.run('createTemplate', { fields: trainer })
    await berth.run('deleteTemplate', { id })
    expect(await search('Trainer')).toEqual([])
    const others = await berth.run('searchTemplates', { filters: [] })
    const foreign = others.find(({ own, id }) => own === false && id !== undefined)
    if (foreign?.id === undefined) throw new Error('there is no template of others')
    await expect(berth.run('deleteTemplate', { id: foreign.id })).rejects.toThrow()
  })

  test('a search meets every condition, also several on one field', async () => {
    const found = await berth.run('searchTemplates', {
      filters: [
        { field: 'recommended_disk_space', condition: { operator: 'gte', value: 20 } },
        { field: 'recommended_disk_space', condition: { operator: 'lt', value: 60 } },
        { field: 'recommended', condition: { operator: 'in', value: [true] } },
      ],
    })
    expect(found.length).toBeGreaterThan(0)
    expect(found.every(({ disk = 0, recommended }) => disk >= 20 && disk < 60 && recommended)).toBe(true)
  })
})
