break site if $_streq(name, "layers.02.q_proj")
run 1 285 260
finish
next
print *(float(*)[4])(run->arena + 2 * 4096)
break call
continue
print *(const ProductArgs*)args
delete
break site
continue
continue
