! SPDX-License-Identifier: Apache-2.0
! Problems in Fortran's terms. Arrays are column-major here, and autotune.h counts rows: a(m, n) is
! there a matrix of n rows and m columns, whose rows are the columns of a.
!
! Other members of the structs, such as batch or step, may be set afterwards, as autotune.h has them.
module autotune_problems
    use, intrinsic :: iso_c_binding
    use autotune_c
    implicit none
    private
    public :: autotune_transpose_of, autotune_permutation_of
    public :: autotune_matrix_of, autotune_list_of, autotune_groups_of

contains

    ! The problem of b = transpose(a), for a(m, n) and b(n, m) with elements of so many bytes. lda and
    ! ldb are the first extents of arrays that a and b are the upper parts of, as BLAS has them.
    function autotune_transpose_of(m, n, bytes, lda, ldb) result(problem)
        integer, intent(in) :: m, n, bytes
        integer, intent(in), optional :: lda, ldb
        type(autotune_problem) :: problem

        problem%elem_size = bytes
        problem%rows = n
        problem%cols = m
        if (present(lda)) problem%ld_src = lda
        if (present(ldb)) problem%ld_dst = ldb
        problem%struct_size = c_sizeof(problem)
    end function autotune_transpose_of

    ! The problem of a permutation: axis i of b is axis permutation(i) of a. Axes count from 1, and the
    ! first is the fastest: size(b, i) == size(a, permutation(i)).
    function autotune_permutation_of(extents, permutation, bytes) result(tensor)
        integer, intent(in) :: extents(:), permutation(:), bytes
        type(autotune_tensor) :: tensor
        integer :: i, rank

        rank = size(extents)
        tensor%elem_size = bytes
        ! What makes no sense is left to the library to refuse.
        tensor%rank = merge(rank, 0, size(permutation) == rank)
        tensor%struct_size = c_sizeof(tensor)
        if (tensor%rank > AUTOTUNE_RANK_MAX) return
        do i = 1, int(tensor%rank)
            tensor%extents(i) = extents(rank + 1 - i)
            tensor%permutation(i) = rank - permutation(rank + 1 - i)
        end do
    end function autotune_permutation_of

    ! A matrix of a list: b = transpose(a), for a(m, n) at the device address src and b(n, m) at dst.
    function autotune_matrix_of(m, n, dst, src) result(matrix)
        integer, intent(in) :: m, n
        type(c_ptr), intent(in) :: dst, src
        type(autotune_matrix) :: matrix

        matrix%dst = dst
        matrix%src = src
        matrix%rows = n
        matrix%cols = m
        matrix%ld_src = m
        matrix%ld_dst = n
        matrix%batch = 1
    end function autotune_matrix_of

    ! A list of matrices, which is borrowed.
    function autotune_list_of(matrices, bytes) result(groups)
        type(autotune_matrix), target, intent(in) :: matrices(:)
        integer, intent(in) :: bytes
        type(autotune_groups) :: groups

        groups%struct_size = c_sizeof(groups)
        groups%elem_size = bytes
        groups%count = size(matrices)
        if (size(matrices) > 0) groups%list = c_loc(matrices(1))
    end function autotune_list_of

    ! `count` groups of adjacent columns of a(m, n), each of which is transposed.
    function autotune_groups_of(count, m, n, bytes) result(groups)
        integer, intent(in) :: count, m, n, bytes
        type(autotune_groups) :: groups

        groups%struct_size = c_sizeof(groups)
        groups%elem_size = bytes
        groups%count = count
        groups%rows = n
        groups%cols = m
        groups%most_rows = n
    end function autotune_groups_of

end module autotune_problems
