/** Customers, users, drivers and shipments of the demo and of the tests. */
import type { PickupOrder } from "@waybill/client"
import { hashPassword } from "../src/accounts/passwords.ts"
import type { Database } from "../src/database/connect.ts"
import { accounts, customers, drivers, users } from "../src/database/schema.ts"
import type { Booking } from "../src/shipments/dispatch.ts"

export const password = "only for the demo"
export const dispatcher = { email: "dana@prairie.example", password }
export const harborUser = { email: "hana@harbor.example", password }
export const summitUser = { email: "sam@summit.example", password }

export const putDemoData = async (database: Database): Promise<void> => {
  const passwordHash = await hashPassword(password)
  await database.transaction(async (tx) => {
    await tx.insert(customers).values([
      { id: "harbor", name: "Harbor Hardware", street: "7 Dock Street", city: "Boston", state: "MA", postalCode: "02108" },
      { id: "summit", name: "Summit Sports", street: "90 Blake Street", city: "Denver", state: "CO", postalCode: "80205" }
    ])
    await tx.insert(accounts).values([{ number: "H-100", customerId: "harbor" }, { number: "S-200", customerId: "summit" }])
    await tx.insert(users).values([
      { email: dispatcher.email, name: "Dana", role: "dispatcher", passwordHash },
      { email: harborUser.email, name: "Hana", role: "customer", customerId: "harbor", passwordHash },
      { email: summitUser.email, name: "Sam", role: "customer", customerId: "summit", passwordHash }
    ])
    await tx.insert(drivers).values([{ name: "Lou Perry", truck: "14" }, { name: "Mika Ray", truck: "22" }])
  })
}

const chicago = { name: "Lakeshore Tools", street: "2100 S Ashland Ave", city: "Chicago", state: "IL", postalCode: "60608" }

export const bookings: { readonly harbor: Booking; readonly summit: Booking } = {
  harbor: {
    account: "H-100",
    bolNumber: "BOL-7001",
    description: "Hand tools",
    freightClass: "60",
    pallets: 3,
    pounds: 1840,
    heightInches: 52,
    pickup: chicago,
    delivery: { name: "Harbor Hardware", street: "7 Dock Street", city: "Boston", state: "MA", postalCode: "02108" }
  },
  summit: {
    account: "S-200",
    bolNumber: "BOL-7002",
    description: "Skis",
    freightClass: "125",
    pallets: 2,
    pounds: 700,
    heightInches: 72,
    pickup: chicago,
    delivery: { name: "Summit Sports", street: "90 Blake Street", city: "Denver", state: "CO", postalCode: "80205" }
  }
}

/** What a program of Harbor Hardware orders over the interface. */
export const pickupOrder: PickupOrder = {
  isTest: false,
  pickupAddress: [{
    orgAccountNumber: "H-100",
    orgAddressName: "Lakeshore Tools",
    orgAddressLine1: "2100 S Ashland Ave",
    orgCity: "Chicago",
    orgState: "IL",
    orgZip: "60608",
    orgCountry: "USA"
  }],
  grossPickupWeight: 1840,
  weightUofM: "LBS",
  handlingUnitCount: 3,
  linearFeet: 6,
  readyDate: "2099-11-20",
  readyTime: "2099-11-20T08:00:00",
  closeTime: "2099-11-20T16:00:00",
  pickupLocationTimeZone: "UTC-6"
}
