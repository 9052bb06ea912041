#!/usr/bin/env node
console.log("Waybill")
