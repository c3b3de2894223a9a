import { describe, expect, test } from 'vitest'
import { borrowedQuestion } from '#shared/project/borrowed.ts'
import { cloudWords } from '#shared/project/handed-over.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { codeOf } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, joinAll, openProject, write } from './place.ts'

const machine = 'machine: { gpu: [RTX 4090, RTX 3090, RTX 3080], price: 5, verified: false, reliability: 50 }'
const inCloud = { deployment: publicProfile, limits: false }

describe.skipIf(noSshd)(`a project with data in a cloud${noSshd}`, () => {
  test('copies its data before the set-up, and its results before the machine is destroyed', async () => {
    const { under, world, runProject } = await openProject(
      {
        'berth.yaml': `${machine}
from: [s3://sets/images, { cloud: s3.7://sets/labels, to: /data/labels }]
run: mkdir -p out && echo done > out/log.txt
results: out
to: s3://runs/digits/
`,
      },
      undefined,
      inCloud,
    )
    const started: string[] = []
    under.berth.onChange(() => {
      const { runs, transfers } = under.account()
      const [run] = Object.values(runs)
      for (const { from, to, step } of Object.values(transfers)) {
        const line = `${from.path} > ${to.path}: ${step}, ${run?.step}`
        if (started.at(-1) !== line && !started.includes(line)) started.push(line)
      }
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'done')
    const home = started.find(line => line.startsWith('sets/images'))?.match(/> (\S+)\/images:/)?.[1]
    expect(started).toEqual(
      expect.arrayContaining([
        `sets/images > ${home}/images: done, sending`,
        'sets/labels > /data/labels: done, sending',
        `${home}/out > runs/digits/${id}/out: done, fetching`,
      ]),
    )
    const asked = world.requests('POST', '/commands/rclone/')
    expect(asked).toHaveLength(3)
    await under.until(() =>
      Object.values(under.account().transfers).every(({ key }) => key?.state === 'deleted'),
    )
  })

  test('copies nothing twice if Berth was closed during a copy', async () => {
    const { under, world, sshd, runProject } = await openProject(
      { 'berth.yaml': `${machine}\nfrom: s3://sets/images\nrun: 'true'\n` },
      undefined,
      inCloud,
    )
    const id = await runProject()
    await under.until(() => Object.values(under.account().transfers)[0]?.step === 'running')
    await under.close()
    const later = await world.startConnected()
    joinAll(world, later, sshd)
    await later.until(() => jobOf(later, id)?.step === 'done')
    const asked = world.requests('POST', '/commands/rclone/')
    expect(asked).toHaveLength(1)
  })

  test('says what its key can do, and uses a cloud only once it was allowed to', async () => {
    const text = `${machine}\nfrom: s3://sets/images\nrun: 'true'\n`
    const { under, project, runProject } = await openProject({ 'berth.yaml': text }, undefined, inCloud)
    const plan = await under.run('planProject', { project })
    expect(plan).toMatchObject({ wideKey: false, borrowed: [{ use: 'cloud:s3', of: [] }] })
    expect(cloudWords(plan).join(' ')).toContain('only start copies between this machine and your clouds')
    expect(cloudWords({ ...plan, wideKey: true }).join(' ')).toContain('can rent, stop and destroy instances')
    const { content, limits, pricePerHour: price } = plan
    const asked = { project, content, limits, price, secretFiles: [] }
    expect(await codeOf(under.run('runProject', asked))).toBe('not_allowed')
    await under.run('cancelRun', { run: await runProject() })
    expect((await under.run('planProject', { project })).borrowed).toEqual([])
  })

  test('gives a key for all instances only if that was allowed, too', async () => {
    const { under, world, project, runProject } = await openProject(
      { 'berth.yaml': `${machine}\nfrom: s3.101://sets/images\nrun: 'true'\n` },
      undefined,
      { ...inCloud, deployment: undefined },
    )
    const { borrowed, wideKey } = await under.run('planProject', { project })
    expect(wideKey).toBe(true)
    expect(borrowed.map(({ use }) => use)).toEqual(['cloud:s3.101', 'key'])
    expect(borrowed.map(borrowedQuestion)[1]).toContain('rent, stop and destroy all your instances?')
    const id = await runProject()
    await under.until(() => world.requests('POST', '/commands/rclone/').length > 0)
    await under.run('cancelRun', { run: id })
    await under.until(() =>
      Object.values(under.account().transfers).every(({ key }) => key?.state === 'deleted'),
    )
  })

  test('is planned only if the account has a connection to that cloud', async () => {
    const { under, project, folder } = await openProject(
      { 'berth.yaml': `${machine}\nfrom: dropbox://sets/images\nrun: 'true'\n` },
      undefined,
      inCloud,
    )
    expect(await codeOf(under.run('planProject', { project }))).toBe('no_cloud_connection')
    write(folder, { 'berth.yaml': `${machine}\nfrom: drive://sets/images\nrun: 'true'\n` })
    expect((await under.run('planProject', { project })).offer).toBeDefined()
    expect(await under.run('listCloudConnections', {})).toEqual([
      { id: '101', name: 'S3_1', provider: 's3' },
      { id: '102', name: 'Drive_1', provider: 'drive' },
    ])
  })
})
