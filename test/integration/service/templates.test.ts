import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import type { TemplateBody } from '#service/templates.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure, nobodysKey } from './connected.ts'

const plain: TemplateBody = {
  ...{ name: 'mine', image: 'pytorch/pytorch' },
  ...{ docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
}
const full: TemplateBody = {
  ...plain,
  ...{ tag: '2.5', desc: 'a', readme: '# a', env: '-e A=1 -p 80:80', onstart: 'true', runtype: 'jupyter' },
  ...{ args_str: '--x', ssh_direct: true, use_ssh: true, jup_direct: true, jupyter_dir: '/work' },
  ...{ use_jupyter_lab: true, href: 'https://a.example', repo: 'a/b', private: true },
  ...{ extra_filters: { num_gpus: { gte: 2 } }, recommended_disk_space: 30, volume_info: { size: 1 } },
  ...{ docker_login_repo: 'registry.example', docker_login_user: 'me', docker_login_pass: 'registry-token' },
}

describe.each(profileNames)('templates of the %s', name => {
  let service: Connected
  let client: ServiceClient
  beforeAll(async () => {
    service = await connect({ deployment: profiles[name] })
    client = service.client
  })
  afterAll(() => service.simulator.close())

  test('a template keeps every field that it was given, and shows no token', async () => {
    const made = await client.templates.create(full)
    const { docker_login_pass: token, ...shown } = full
    expect(made).toMatchObject(shown)
    expect(JSON.stringify(made)).not.toContain(token)
  })

  test('a template has the interface’s defaults', async () => {
    expect(await client.templates.create(plain)).toMatchObject({
      tag: 'latest',
      runtype: 'args',
      recommended_disk_space: 8,
    })
  })

  test('every edit gives a new hash, keeps the id and what was not named; the old hash names nothing', async () => {
    const made = await client.templates.create(full)
    const edited = await client.templates.edit(made.hash_id, { desc: 'b' })
    expect(edited).toMatchObject({ id: made.id, name: 'mine', desc: 'b', env: full.env })
    expect(edited.hash_id).not.toBe(made.hash_id)
    const again = await client.templates.edit(edited.hash_id, { desc: 'b' })
    expect(again.hash_id).not.toBe(edited.hash_id)
    await expect(client.templates.edit(made.hash_id, { desc: 'c' })).rejects.toMatchObject(
      failure('not_found', 404),
    )
    await expect(service.rent({ template_hash_id: made.hash_id })).rejects.toMatchObject(
      failure('invalid_args', 400),
    )
  })

  test('a template is removed by its numeric id', async () => {
    const { id } = await client.templates.create(plain)
    await client.templates.remove(id)
    expect(await client.templates.search({ id: { eq: id } })).toEqual([])
    await expect(client.templates.remove(id)).rejects.toMatchObject(failure('not_found', 404))
  })

  test('each operator of select_filters finds what it says', async () => {
    const { id, hash_id } = await client.templates.create({
      ...plain,
      use_ssh: true,
      recommended_disk_space: 77,
    })
    const ids = async (filters: Parameters<typeof client.templates.search>[0]) =>
      (await client.templates.search(filters)).map(found => found.id)
    for (const condition of [{ eq: 77 }, { gte: 77 }, { gt: 76.5 }, { in: [1, 77] }, { lte: 77, gte: 77 }]) {
      expect(await ids({ recommended_disk_space: condition })).toContain(id)
    }
    for (const condition of [{ neq: 77 }, { lt: 77 }, { notin: [77] }, { in: [] }]) {
      expect(await ids({ recommended_disk_space: condition })).not.toContain(id)
    }
    expect(await ids({ hash_id: { eq: hash_id }, use_ssh: { eq: true } })).toEqual([id])
  })

  test('wrong fields are refused when a template is created or edited', async () => {
    const { hash_id } = await client.templates.create(plain)
    for (const wrong of [{ name: '' }, { image: '' }, { image: 'a b' }, { recommended_disk_space: 0 }]) {
      await expect(client.templates.create({ ...plain, ...wrong })).rejects.toMatchObject(
        failure('invalid_args', 400),
      )
      await expect(client.templates.edit(hash_id, wrong)).rejects.toMatchObject(failure('invalid_args', 400))
    }
  })

  test('searching needs user_read, writing user_write, and both a valid key', async () => {
    const scoped = async (category: string) =>
      service.as((await client.apiKeys.create({ name: 'a', permissions: { api: { [category]: {} } } })).key)
    const reader = (await scoped('user_read')).templates
    expect((await reader.search({})).length).toBeGreaterThan(0)
    await expect(reader.create(plain)).rejects.toMatchObject(failure('forbidden', 403))
    const other = (await scoped('instance_read')).templates
    await expect(other.search({})).rejects.toMatchObject(failure('forbidden', 403))
    const stranger = service.as('nobody').templates
    for (const call of [
      () => stranger.search({}),
      () => stranger.create(plain),
      () => stranger.edit('a', {}),
      () => stranger.remove(1),
    ]) {
      await expect(call()).rejects.toMatchObject(nobodysKey[name])
    }
  })
})
