import { noSuchInstance } from '#simulator/errors.ts'
import type { Layer } from '#simulator/http/route.ts'
import { dollars, micro } from '#simulator/world/money.ts'

/** Paying ahead for an instance, and what is left of it. */
export const depositRoutes: Layer = {
  'PUT /instances/prepay/:id/': {
    permission: 'instance_write',
    answer: ({ world, body, id }) => {
      const { months, discount } = world.deposits.pay(id('id'), micro(body().number('amount')))
      return { success: true, timescale: months, discount_rate: discount }
    },
  },
  'GET /instances/balance/:id/': {
    permission: 'instance_read',
    answer: ({ world, id }) => {
      const instance = world.instances.find(id('id'))
      if (!instance) throw noSuchInstance(id('id'))
      return {
        success: true,
        refundable_deposit: dollars(world.deposits.refundable(instance.id)),
        total_discount: dollars(Math.round(world.deposits.saved(instance.id))),
        discount_months: world.deposits.months(instance),
      }
    },
  },
}
