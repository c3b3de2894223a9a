import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { readProfile } from '#simulator/deployment.ts'
import { test } from '../berth/pages.ts'
import { noSshd } from '../integration/ssh/own-root.ts'
import { connectAccount, rentRunning } from './account-steps.ts'
import { findings, pageWithAxe, scanEach, scanOpened } from './axe-scan.ts'
import { joinInstances, projectFolder } from './project-steps.ts'

const screens = [
  'Home',
  'Instances',
  'Offers',
  'Projects',
  'Templates',
  'Transfers',
  'Activity',
  'Spending',
  'Hosting',
  'Account',
  'Settings',
]

test('axe finds nothing wrong on any screen, in the palette or in the first dialogs', async ({ start }) => {
  const [sim, berth] = await Promise.all([start.simulator(), start.berth()])
  const { page, settle } = await pageWithAxe(start, berth.address)
  const found: string[] = []
  const scan = async (where: string) => void found.push(...(await findings(page, where)))
  const dialog = page.getByRole('dialog')
  const close = async () => {
    await page.keyboard.press('Escape')
    await page
      .locator('[role=dialog], [role=alertdialog], [role=menu]')
      .first()
      .waitFor({ state: 'detached' })
  }

  await page.getByRole('button', { name: 'Try the demo' }).waitFor()
  await scan('Welcome')
  // Outbid, so that Home and Activity have what needs the user.
  const bid = await rentRunning(sim, { price: 5 })
  await sim.control('POST', '/sim/outbid', { instance_id: bid })
  const id = await rentRunning(sim)
  await connectAccount(page, sim)
  const row = page.getByRole('row').filter({ hasText: String(id) })
  await page.getByRole('link', { name: 'Instances' }).click()
  await row.first().waitFor()

  for (const screen of screens) {
    await page.getByRole('link', { name: screen }).click()
    await page.getByRole('heading', { name: screen, level: 1 }).waitFor()
    await page.locator('main .screen').waitFor()
    await settle()
    await scan(screen)
  }

  await page.keyboard.press('Control+k')
  await dialog.waitFor()
  await scan('palette')
  await page.keyboard.type('h100')
  await page.getByRole('option').first().waitFor()
  await scan('palette, typed')
  await close()
  await page.keyboard.press('?')
  await dialog.waitFor()
  await scan('shortcuts')
  await close()

  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('button', { name: 'Rent Chat with a model…' }).click()
  await dialog.waitFor()
  await scan('chat with a model')
  await close()
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('button', { name: /^Rent \d/ })
    .first()
    .click()
  await dialog.waitFor()
  await scan('rent')
  await close()

  await page.getByRole('link', { name: 'Instances' }).click()
  await row.first().getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: /^Destroy/ }).click()
  await page.getByRole('dialog').or(page.getByRole('alertdialog')).waitFor()
  await scan('destroy')
  expect(found).toEqual([])
})

test('axe finds nothing wrong in the tabs of the details, and in a row’s menu and dialogs', async ({
  start,
}) => {
  const [sim, berth] = await Promise.all([start.simulator(), start.berth()])
  const { page, settle } = await pageWithAxe(start, berth.address)
  const id = await rentRunning(sim)
  await connectAccount(page, sim)
  const found: string[] = []
  await page.getByRole('link', { name: 'Instances' }).click()
  const row = page
    .getByRole('row')
    .filter({ hasText: String(id) })
    .first()
  await row.getByRole('link').click()
  for (const tab of ['Files', 'Monitor', 'Limits', 'Details']) {
    await page.getByRole('tab', { name: tab, exact: true }).click()
    await page.getByRole('tabpanel', { name: tab }).waitFor()
    await settle()
    found.push(...(await findings(page, tab)))
    found.push(...(await scanEach(page, tab, '[role=tabpanel]')))
  }
  const more = row.getByRole('button', { name: /^More/ })
  await more.click()
  found.push(...(await scanOpened(page, 'menu of a row')))
  for (const name of ['Rename', 'Destroy']) {
    await more.click()
    await page.getByRole('menuitem', { name }).click()
    await page.locator('.menu').waitFor({ state: 'detached' })
    found.push(...(await scanOpened(page, name)))
  }
  expect(found).toEqual([])
})

// Each of a part, so that no test is silent for long beside other programs.
test.for([
  ['first', screens.slice(0, 4)],
  ['next', screens.slice(4, 8)],
  ['last', screens.slice(8)],
] as const)(
  'axe finds nothing wrong in what the buttons of the %s screens open',
  async ([which, part], { start }) => {
    const [sim, berth] = await Promise.all([start.simulator(), start.berth()])
    const { page, settle } = await pageWithAxe(start, berth.address)
    await rentRunning(sim)
    await connectAccount(page, sim)
    const found: string[] = []
    for (const screen of part) {
      await page.getByRole('link', { name: screen }).click()
      await page.getByRole('heading', { name: screen, level: 1 }).waitFor()
      await page.locator('main .screen').waitFor()
      await settle()
      found.push(...(await scanEach(page, screen, 'main')))
    }
    if (which === 'first') found.push(...(await scanEach(page, 'Header', 'header')))
    expect(found).toEqual([])
  },
)

test('axe finds nothing wrong in what is asked of one machine, of several and of Berth', {
  timeout: 300_000,
}, async ({ start }) => {
  const [sim, berth] = await Promise.all([
    start.simulator({ deployment: readProfile('public'), limits: false }),
    start.berth(),
  ])
  const { page, settle } = await pageWithAxe(start, berth.address)
  await rentRunning(sim, { label: 'night', price: 2 })
  await rentRunning(sim, { label: 'box' })
  const gone = await rentRunning(sim, { label: 'gone' })
  await sim.control('POST', `/sim/instances/${gone}`, { actual_status: 'offline' })
  await connectAccount(page, sim)
  const found: string[] = []
  const press = async (scope: Locator, role: 'button' | 'menuitem' | 'option', name: RegExp) => {
    await scope.getByRole(role, { name }).first().click()
    found.push(...(await scanOpened(page, String(name))))
  }
  const all = page.locator('body')
  const palette = async (words: string, name: RegExp) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Palette' }).or(page.getByRole('combobox')).first().waitFor()
    await page.keyboard.type(words)
    await press(all, 'option', name)
  }
  await page.getByRole('link', { name: 'Instances' }).click()
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) }).first()
  for (const name of [/^Change bid/, /^Report the machine/, /^Editor/]) {
    await row('night').getByRole('button', { name: /^More/ }).click()
    await press(all, 'menuitem', name)
  }
  await row('box').getByRole('button', { name: /^More/ }).click()
  await press(all, 'menuitem', /^Prepay…/)
  await press(all, 'button', /^Move to another machine/)
  await press(row('box'), 'button', /^No limit/)
  for (const name of ['night', 'box']) await row(name).getByRole('checkbox').check({ force: true })
  const bar = page.getByRole('toolbar', { name: 'Selected instances' })
  for (const name of [/^Stop…/, /^Run a command…/, /^Set a limit…/]) await press(bar, 'button', name)
  await bar.getByRole('button', { name: 'More for the selection' }).click()
  await press(all, 'menuitem', /^Name and tag…/)
  await bar.getByRole('button', { name: 'Select nothing' }).click()

  await row('night').getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Limits' }).click()
  await press(all, 'button', /^Change what happens if outbid/)
  await page.getByRole('button', { name: 'Add limit' }).click()
  await press(all, 'menuitem', /^Stop it when…/)
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'Upload files…' }).waitFor()
  await settle()
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Upload files…' }).click()
  const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') }
  await (await choosing).setFiles(note)
  await all.getByRole('button', { name: /^note\.txt$/ }).click()
  await page.locator('.dialog .cm-content').waitFor()
  found.push(...(await findings(page, 'text editor', '.dialog')))
  // The first Escape lets Tab leave the text.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.locator('.dialog').waitFor({ state: 'detached' })
  await palette('report a bug', /^Report a bug/)
  await palette('quit', /^Quit Berth/)

  await page.getByRole('link', { name: 'Account' }).click()
  await settle()
  await press(all, 'button', /^Add variable…/)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page
    .getByRole('button', { name: /^Keys for/ })
    .first()
    .click()
  await page.getByText('Backspace for none, Escape to keep them.').waitFor()
  found.push(...(await findings(page, 'keys are awaited', 'main')))
  await page.keyboard.press('Escape')

  await sim.control('POST', '/sim/credit', { credit: 0.05 })
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('button', { name: /^Rent \d/ })
    .first()
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Rent .*…$/ })
    .click()
  await page.getByRole('alertdialog').waitFor()
  found.push(...(await findings(page, 'dearer than the credit')))
  expect(found).toEqual([])
})

test('axe finds nothing wrong in the demo and account menus and price increase dialogs', async ({
  start,
}) => {
  const [sim, berth] = await Promise.all([
    start.simulator({ deployment: readProfile('public') }),
    start.berth({ flags: ['--demo'] }),
  ])
  const { page } = await pageWithAxe(start, berth.address)
  await page.getByRole('button', { name: 'Play a day with Berth' }).waitFor()
  const found: string[] = []
  await page.getByRole('button', { name: 'Simulate an event' }).click()
  found.push(...(await scanOpened(page, 'the demo’s menu')))

  const id = await rentRunning(sim)
  await sim.control('POST', '/sim/price-increase', { instance_id: id, factor: 1.5 })
  await connectAccount(page, sim)
  await page.getByRole('button', { name: /^Account:/ }).click()
  found.push(...(await scanOpened(page, 'menu of accounts')))
  await page.getByRole('link', { name: 'Instances' }).click()
  for (const answer of ['Accept…', 'Refuse…']) {
    await page.getByRole('button', { name: answer }).click({ timeout: 150_000 })
    found.push(...(await scanOpened(page, answer)))
  }
  expect(found).toEqual([])
})

test.skipIf(noSshd)(
  `axe finds nothing wrong with the run of a project, from its sheet to a comparison${noSshd}`,
  async ({ start }) => {
    const [sim, home] = await Promise.all([start.simulator(), start.folder()])
    const berth = await start.berth({ home })
    const waits = 'run: until [ -e ../../enough ]; do sleep 0.1; done; echo trained > out.txt'
    projectFolder(home, { 'berth.yaml': `${waits}\nresults: out.txt\nstop: { hours: 1 }\n`, '.env': '' })
    const sshd = await joinInstances(start, sim, home)
    const { page } = await pageWithAxe(start, berth.address)
    const found: string[] = []
    const scan = async (where: string, part: string) =>
      void found.push(...(await findings(page, where, part)))
    await connectAccount(page, sim)
    await page.getByRole('link', { name: 'Projects' }).click()
    const run = page.getByRole('group', { name: 'Run of digits' })
    await page.getByRole('button', { name: 'Run digits…' }).click()
    const confirm = page.getByRole('button', { name: /^Run( these commands)? for at most/ })
    await confirm.waitFor()
    await scan('run sheet', '[role=dialog]')
    await confirm.click()
    await run.getByRole('button', { name: 'Stop digits…' }).waitFor()
    await scan('running', 'main')
    writeFileSync(join(sshd.home, 'enough'), '')
    await run.getByText('1 file downloaded').waitFor()
    await scan('finished', 'main')

    await page.getByRole('button', { name: 'Run digits…' }).click()
    await confirm.click()
    await run.getByRole('button', { name: 'Destroy the machine of digits…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Destroy', exact: true }).click()
    await run.first().getByRole('button', { name: 'More: run of digits' }).click()
    await page.getByRole('menuitem', { name: 'Compare…' }).click()
    await page.getByRole('dialog', { name: 'Compare two runs of digits' }).getByText('Ended as').waitFor()
    await scan('comparison', '[role=dialog]')
    expect(found).toEqual([])
  },
)

test.skipIf(noSshd)(
  `axe finds nothing wrong with a sweep, its table and its questions, while it runs and after${noSshd}`,
  async ({ start }) => {
    const [sim, home] = await Promise.all([start.simulator(), start.folder()])
    const berth = await start.berth({ home })
    const spec = `sweep: { lr: [0.1, 0.01] }
at_once: 1
run: |
  echo loss=$lr
  until [ -e ../../enough ]; do sleep 0.1; done
stop: { hours: 1 }
`
    projectFolder(home, { 'berth.yaml': spec })
    const sshd = await joinInstances(start, sim, home)
    const { page, settle } = await pageWithAxe(start, berth.address)
    await connectAccount(page, sim)
    await page.getByRole('link', { name: 'Projects' }).click()
    await page.getByRole('button', { name: 'Run digits…' }).click()
    await page.getByRole('button', { name: /^Run these commands for at most/ }).click()
    const sweep = page.getByRole('group', { name: 'Sweep of digits' })
    const row = sweep.getByRole('table', { name: 'Runs of digits' }).locator('tbody tr').first()
    await row.getByText('Running').waitFor()
    await row.getByRole('button', { name: /^Details of run/ }).click()
    await sweep.getByRole('list', { name: 'Run in detail' }).waitFor()
    await settle()
    const found = await findings(page, 'running sweep', 'main')
    await sweep.getByRole('button', { name: 'Cancel sweep of digits…' }).click()
    found.push(...(await scanOpened(page, 'cancel sweep')))
    await page.getByRole('button', { name: 'More: digits', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Edit…' }).click()
    found.push(...(await scanOpened(page, 'edit')))
    await page.getByRole('button', { name: 'More: digits', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sweep…' }).click()
    found.push(...(await scanOpened(page, 'another sweep')))
    writeFileSync(join(sshd.home, 'enough'), '')
    await sweep.getByText(/2 of 2 done/).waitFor()
    await settle()
    found.push(...(await findings(page, 'ended sweep', 'main')))
    expect(found).toEqual([])
  },
)

test('axe finds nothing wrong in the form that sets up a project or in the plan of a sweep', async ({
  start,
}) => {
  const [sim, home] = await Promise.all([start.simulator(), start.folder()])
  const berth = await start.berth({ home })
  const folder = projectFolder(home, { 'train.py': '' })
  const { page, settle } = await pageWithAxe(start, berth.address)
  await connectAccount(page, sim)
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('button', { name: 'Set up digits…' }).click()
  await page.getByRole('dialog', { name: 'Set up digits' }).waitFor()
  await settle()
  const found = await findings(page, 'project form', '[role=dialog]')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const sweep = 'sweep: { lr: [0.1, 0.01] }\nat_once: 2\nrun: python train.py\nstop: { hours: 1 }\n'
  writeFileSync(join(folder, 'berth.yaml'), sweep)
  await page.getByRole('button', { name: 'More: digits' }).click()
  await page.getByRole('menuitem', { name: 'Read berth.yaml again' }).click()
  await page.getByRole('button', { name: 'Run digits…' }).click()
  await page
    .getByRole('dialog', { name: 'Run digits' })
    .getByText(/^2 runs/)
    .waitFor()
  found.push(...(await findings(page, 'plan of a sweep', '[role=dialog]')))
  expect(found).toEqual([])
})
