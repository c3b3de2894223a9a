import { expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import { openConnected } from '#test/e2e/account-steps.ts'

const command = `sudo docker run -d --gpus all \\
  -p 8000-8002:8000-8002 -p [::1]:9:9 \\
  -e PORTAL="localhost:1111:11111:/:Portal|localhost:8188:18188:/:Comfy UI" \\
  -e HF_TOKEN=$HF_TOKEN -v /a:/b repo/img:tag --serve -e INNER=2
KEY="-----BEGIN TEST-----
QUJDREVG
-----END TEST-----"
`

test('a pasted command fills in variables and ports, and lists ignored and incomplete options', async ({
  start,
}) => {
  const { sim, page } = await openConnected(start)
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('button', { name: /^Rent 1 × / })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  await dialog.getByText(/^Environment, ports/).click()
  await dialog.getByRole('button', { name: 'Paste as text' }).click()
  const box = dialog.getByLabel('Options to import')
  await box.fill(command)
  await dialog.getByRole('button', { name: 'Import' }).click()

  const left = ['-d', '--gpus all', '-v /a:/b', 'repo/img:tag --serve -e INNER=2']
  expect((await box.inputValue()).split('\n')).toEqual(left)
  await dialog.getByText('Not imported: the 4 pieces left here.').waitFor()
  const missing = dialog.getByText('This needs a value:')
  expect(await missing.innerText()).toContain('HF_TOKEN ($HF_TOKEN')
  await dialog.getByLabel('Value of HF_TOKEN').fill('hf_typed')
  await missing.waitFor({ state: 'detached' })
  // A value of several lines keeps them while it is edited.
  const key = dialog.getByLabel('Value of KEY')
  await key.press('Control+End')
  await key.pressSequentially(' ')
  await dialog.getByRole('button', { name: /^Rent for/ }).click()
  await dialog.waitFor({ state: 'detached' })
  const rented = () =>
    sim.api<{ instances: { extra_env: [string, string][] }[] }>('GET', '/api/v0/instances/')
  await expect.poll(async () => (await rented()).instances.length).toBe(1)
  const env = Object.fromEntries((await rented()).instances[0]?.extra_env ?? [])
  expect(env).toMatchObject({
    PORTAL: 'localhost:1111:11111:/:Portal|localhost:8188:18188:/:Comfy UI',
    HF_TOKEN: 'hf_typed',
    KEY: '-----BEGIN TEST-----\nQUJDREVG\n-----END TEST----- ',
  })
  expect(
    Object.keys(env)
      .filter(name => name.startsWith('-p'))
      .sort(),
  ).toEqual(['8000', '8001', '8002', '9'].map(port => `-p ${port}:${port}`))
  expect(env).not.toHaveProperty('INNER')
})
