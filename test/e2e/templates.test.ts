import { expect } from 'vitest'
import type { Service } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import { openConnected } from './account-steps.ts'

interface Template {
  id: number
  hash_id: string
  name: string
  env: string
}

async function named(sim: Service, name: string): Promise<Template | undefined> {
  const filters = encodeURIComponent(JSON.stringify({ name: { eq: name } }))
  const { templates } = await sim.api<{ templates: Template[] }>(
    'GET',
    `/api/v0/template/?select_filters=${filters}`,
  )
  return templates[0]
}

test('a template is created, edited twice, rented from and deleted', async ({ start }) => {
  const { page, sim } = await openConnected(start)
  await page.getByRole('link', { name: 'Templates' }).click()
  await page
    .getByRole('link', { name: /PyTorch/ })
    .first()
    .waitFor()

  // A click beside a name leaves the keys in its row.
  await page.setViewportSize({ width: 1280, height: 720 })
  const rows = page.locator('tr[data-template]')
  await rows.first().locator('td.image').click()
  await expect.poll(() => rows.first().getAttribute('aria-current')).toBe('true')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => rows.nth(1).getAttribute('aria-current')).toBe('true')
  await page.getByRole('link', { name: 'Templates' }).click()

  await page.setViewportSize({ width: 720, height: 480 })
  const filters = page.getByRole('group', { name: 'Filters' })
  await expect.poll(async () => (await filters.boundingBox())?.height).toBeLessThan(60)
  await page.setViewportSize({ width: 1080, height: 720 })
  await page.getByRole('button', { name: 'New template' }).click()
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.getByText('Enter a template name.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Trainer')
  await page.getByLabel('Image', { exact: true }).fill('pytorch/pytorch')
  await page.getByRole('radio', { name: 'SSH' }).check()
  await page.getByLabel('Disk (GB)').fill('33')
  await page.getByLabel('As Docker flags').fill(`-e KEPT=1 -e MODE='from template' -p 8080:8080 -h box`)
  await expect.poll(() => page.getByLabel('Value of MODE').inputValue()).toBe('from template')
  await page.getByRole('button', { name: 'Condition', exact: true }).click()
  await page.getByLabel('Field 1').fill('num_gpus')
  await page.getByLabel('Comparison 1').click()
  await page.getByRole('option', { name: '=', exact: true }).click()
  await page.getByLabel('Value 1').fill('1')
  await page.getByRole('button', { name: 'Condition', exact: true }).click()
  await page.getByLabel('Field 2').fill('compute_cap')
  await page.getByLabel('Value 2').fill('11')
  await page.getByLabel('Registry', { exact: true }).fill('ghcr.io')
  await page.getByLabel('User', { exact: true }).fill('me')
  await page.getByLabel('Token', { exact: true }).fill('very-secret-token')
  await page
    .getByLabel('Text')
    .fill(
      '# Trains\n\n![map](https://example.com/a.png) <script>boom()</script> [docs](https://example.com/)',
    )
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const first = await named(sim, 'Trainer')
  expect(first).toMatchObject({ env: `-e KEPT=1 -e MODE='from template' -p 8080:8080 -h box` })
  await expect.poll(() => page.url()).toContain(`templates/${first?.hash_id}/edit`)
  expect(await page.content()).not.toContain('very-secret-token')

  // Each edit names the current hash; the token is left alone.
  await page.getByRole('button', { name: 'Variable', exact: true }).click()
  await page.getByLabel('Name of variable 5').fill('ADDED')
  await page.getByLabel('Value of ADDED').fill("it's 2")
  await expect
    .poll(() => page.getByLabel('As Docker flags').inputValue())
    .toContain(`-h box -e ADDED='it'"'"'s 2'`)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const second = await named(sim, 'Trainer')
  expect(second?.hash_id).not.toBe(first?.hash_id)
  expect(second?.id).toBe(first?.id)
  await page.getByLabel('Disk (GB)').fill('40')
  // An unsaved change survives leaving; a wrong name prevents saving.
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.goBack()
  await expect.poll(() => page.getByLabel('Disk (GB)').inputValue()).toBe('40')
  await page.getByLabel('Name of variable 5').fill('1DDED')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Letters, digits and _, not beginning with a digit.').first().waitFor()
  await page.getByLabel('Name of variable 5').fill('ADDED')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const third = await named(sim, 'Trainer')
  expect(third?.hash_id).not.toBe(second?.hash_id)
  await expect.poll(() => page.url()).toContain(`templates/${third?.hash_id}/edit`)

  await page.getByText('Preview').click()
  await page.getByRole('heading', { name: 'Trains' }).waitFor()
  expect(await page.locator('.readme img, .readme script').count()).toBe(0)
  await page.getByRole('link', { name: 'Picture: map' }).waitFor()

  await page.getByRole('button', { name: 'Rent from it…' }).click()
  await page.getByText('Renting from the template').waitFor()
  await page.getByText('Compute capability ≥ 0.11').waitFor()
  await page
    .getByRole('button', { name: /^Rent 1 × / })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Template: Trainer' }).waitFor()
  await expect.poll(() => dialog.getByLabel('Image').inputValue()).toBe('pytorch/pytorch:latest')
  await expect.poll(() => dialog.getByLabel('Disk (GB)').inputValue()).toBe('40')
  await dialog.getByLabel('Disk (GB)').fill('25')
  await dialog.getByText('Overrides the template’s 40 GB.').waitFor()
  await dialog.getByRole('button', { name: 'Use the template’s 40 GB' }).click()
  await expect.poll(() => dialog.getByLabel('Disk (GB)').inputValue()).toBe('40')
  await dialog.getByText(/^Environment, ports/).click()
  await dialog.getByRole('button', { name: 'Variable', exact: true }).click()
  await dialog.getByLabel('Name of variable 1').fill('MODE')
  await dialog.getByLabel('Value of MODE').fill('mine')
  await dialog.getByText('Overrides the template’s from template.').waitFor()
  await dialog.getByRole('button', { name: /^Rent for/ }).click()
  await dialog.waitFor({ state: 'detached' })
  const instances = () =>
    sim.api<{ instances: { extra_env: [string, string][]; template_hash_id: string; image_uuid: string }[] }>(
      'GET',
      '/api/v0/instances/',
    )
  await expect.poll(async () => (await instances()).instances.length).toBe(1)
  const instance = (await instances()).instances[0]
  expect(Object.fromEntries(instance?.extra_env ?? [])).toMatchObject({
    KEPT: '1',
    MODE: 'mine',
    ADDED: "it's 2",
  })
  expect(instance?.template_hash_id).toBe(third?.hash_id)

  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByText('Yours', { exact: true }).click()
  await page.getByRole('button', { name: 'More for Trainer' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete template' }).click()
  await page.getByText('No template of your own yet').waitFor()
  expect(await named(sim, 'Trainer')).toBeUndefined()
})

test('a new template starts empty, even right after another one was open', async ({ start }) => {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page(berth.address)
  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('link', { name: 'ComfyUI', exact: true }).click()
  await page.getByRole('button', { name: 'Copy as a new one' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('create a template')
  await page.keyboard.press('Enter')
  const name = page.getByLabel('Name', { exact: true })
  await name.waitFor()
  expect(await name.inputValue()).toBe('')
})

test('templates are searched with the service’s own filters', async ({ start }) => {
  const { page } = await openConnected(start)
  await page.getByRole('link', { name: 'Templates' }).click()
  const rows = page.locator('tr[data-template]')
  await rows.first().waitFor()
  /** All rows, drawn or not. */
  const count = async () =>
    Number(await page.getByRole('table', { name: 'Templates' }).getAttribute('aria-rowcount'))
  const all = await count()
  await page.getByRole('button', { name: '+ Filter' }).click()
  await page.getByRole('menuitem', { name: 'Disk' }).click()
  await page.getByLabel('Comparison').click()
  await page.getByRole('option', { name: 'at least' }).click()
  await page.getByLabel('Value', { exact: true }).fill('much')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('alert').getByText('A number of GB.').waitFor()
  await page.getByLabel('Value', { exact: true }).fill('40')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('button', { name: 'Disk: at least 40 GB' }).waitFor()
  await page.getByText('that the service found').waitFor()
  await expect.poll(count).toBeLessThan(all)
})

/** What a hostile author may write: nothing in it may run, load, or link to anything but the web. */
const hostile = [
  '# Fine',
  '[run](javascript:alert(1)) [data](data:text/html,x) [rel](/etc/passwd) [web](https://example.com/ok)',
  '![pixel](https://example.com/pixel.png)',
  '<img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 2"></svg>',
  '<iframe src="https://example.com/frame"></iframe><form action="https://example.com/"><button>go</button></form>',
  '<style>body { display: none }</style><a href="https://example.com/" style="position:fixed" id="app" onclick="window.hacked = 3">styled</a>',
  '<math><mtext><table><mglyph><style><img src=x onerror="window.hacked = 4">',
].join('\n\n')

test('a hostile readme is reduced to text and web links, and fetches nothing', async ({ start }) => {
  const { page, errors, sim } = await openConnected(start)
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await sim.api('POST', '/api/v0/template/', {
    ...{ name: 'Hostile', image: 'a/b', readme: hostile },
    ...{ docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
  })
  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByLabel('Find in templates').fill('hostile')
  await page.getByRole('link', { name: 'Hostile' }).click()
  await page.getByRole('heading', { name: 'Fine' }).waitFor()
  const readme = page.locator('.readme')
  const targets = await readme
    .locator('a[href]')
    .evaluateAll(links => links.map(link => link.getAttribute('href')))
  expect(targets.length).toBeGreaterThan(2)
  expect(targets.filter(target => !target?.startsWith('https://example.com/'))).toEqual([])
  expect(
    await readme
      .locator('img, svg, iframe, form, button, style, script, math, [style], [id], [onclick]')
      .count(),
  ).toBe(0)
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
  expect(asked.filter(url => url.includes('example.com'))).toEqual([])
  // The parser's hidden document has the same policy, and reports what that blocked.
  expect(errors.splice(0).filter(error => !error.includes('Content Security Policy'))).toEqual([])
})

test('a template with a secret is public only if confirmed, and claims no stored token', async ({
  start,
}) => {
  const { page, sim } = await openConnected(start)
  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('button', { name: 'New template' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Gated')
  await page.getByLabel('Image', { exact: true }).fill('pytorch/pytorch')
  await page.getByLabel('As Docker flags').fill('-e HF_TOKEN=hf_abc')
  const isPrivate = page.getByRole('switch', { name: /^Private/ })
  expect(await isPrivate.isChecked()).toBe(true)
  await isPrivate.uncheck()
  await page.getByText('HF_TOKEN looks like a secret').waitFor()
  await page.getByRole('button', { name: 'Create template' }).click()
  const question = page.getByRole('alertdialog')
  await question.getByText('HF_TOKEN looks like a secret').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await named(sim, 'Gated')).toBeUndefined()

  await isPrivate.check()
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await named(sim, 'Gated')).toMatchObject({ private: true })
  await page.getByLabel('Token', { exact: true }).waitFor()
  expect(await page.getByText('Token: set, and never shown').count()).toBe(0)

  await isPrivate.uncheck()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await question.getByRole('button', { name: 'Save as public' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await named(sim, 'Gated')).toMatchObject({ private: false })
})
